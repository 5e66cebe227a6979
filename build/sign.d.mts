export interface SignOptions {
  readonly app: string;
  readonly identity: string;
  readonly keychain?: string | undefined;
  readonly ignore?: (file: string) => boolean;
}
export default function sign(options: SignOptions, packager: unknown, tools: { readonly codesign: (args: readonly string[]) => void; readonly signApp: (options: SignOptions) => Promise<void> }): Promise<void>;
