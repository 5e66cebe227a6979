/** How the laboratory behaves. */
export interface LabOptions {
  /** Null: MCP over this program's own stdio instead of HTTP. */
  readonly port: number | null;
  /** Of the endpoint, besides `/mcp`. */
  readonly path: string;
  /** From a subscription to its update, and from one event to the next. */
  readonly delayMs: number;
  readonly initialStatus: string;
  readonly updatedStatus: string;
  /** Updates that a subscription sees; the last one brings the updated status. */
  readonly steps: number;
  /** Lists of resources are said to change with each last update. */
  readonly listChanged: boolean;
}

export const LAB_DEFAULTS: LabOptions = { port: 8089, path: '/mcp', delayMs: 5000, initialStatus: 'pending', updatedStatus: 'reviewed', steps: 1, listChanged: false };
