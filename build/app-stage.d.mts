export const NEVER_SHIPPED: RegExp;
