export interface ShippedPackage {
  readonly name: string;
  readonly version: string;
  readonly license: string;
  readonly path: string;
}
export function shippedPackages(lock: unknown): ShippedPackage[];
export function noticeText(): string;
