import type { CallToolResult, ContentBlock, JsonObject, Tool } from '@x/schema'
import type { AppHostClient } from './server-of-app.ts'

/** What a host shows in a page, and does for it. */
export interface ShowAppOptions {
  /** Client of the server whose page is shown. */
  readonly client: AppHostClient
  /** Name and version of the host, for the page. */
  readonly host: { readonly name: string; readonly version: string }
  /** The called tool, as the client lists it. */
  readonly tool: Tool
  /** Arguments of the call. */
  readonly arguments: JsonObject
  /** Result of the call. If the promise rejects, the page is notified that the call was cancelled. */
  readonly result: CallToolResult | Promise<CallToolResult>
  /**
   * Where the host serves `sandboxPage`, at another origin than its own. A host that is a web page needs it
   * (extensions/apps, sandbox proxy). Default: the page is directly in the frame, which has no origin; it then obeys
   * the policy of the host's page as well.
   */
  readonly sandbox?: string | URL | undefined
  /** What the page should know of its surroundings, such as `{ theme: 'dark' }` (extensions/apps, host context). */
  readonly context?: JsonObject | undefined
  /** Opens a link after the user agreed, or returns false. Only `https:` gets here. Default: links are refused. */
  readonly openLink?: ((url: URL) => boolean | Promise<boolean>) | undefined
  /** Takes a message of the user that the page wrote, or returns false. Default: messages are refused. */
  readonly sendMessage?: ((content: readonly ContentBlock[]) => boolean | Promise<boolean>) | undefined
  /**
   * Takes what the model should know of the page in later turns, in place of what the page said before. Default:
   * refused.
   */
  readonly updateModelContext?: ((context: ModelContext) => unknown) | undefined
}

/** What a model should know of a page. */
export interface ModelContext {
  readonly content: readonly ContentBlock[]
  readonly structuredContent: JsonObject | undefined
}
