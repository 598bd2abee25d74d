import type { HttpConnectOptions } from '@x/transport-http/client'
import type { Panel } from './api/panel.ts'
import type { Instance } from './wire/fetch.ts'

/** The options of `serveDev`. */
export interface ServeDevOptions {
  /** A module that exports its server, the command that starts it, or the URL of a server that runs already. */
  readonly target: string
  /** How many processes serve a module in turns, from 1 to 8. Default: 2. Others have one. */
  readonly instances?: number
  /**
   * Gives the running processes of a server at a URL, if you start them yourself. The page sends its requests to them
   * in turns, names them, and can kill them. Default: the URL alone.
   */
  readonly fleet?: () => readonly Instance[]
  /** Parts that you add to the page. */
  readonly panels?: readonly Panel[]
  /**
   * Port of the page. 0 selects a free one. Default: 6280, or the next free one. A given port that is in use is an
   * error.
   */
  readonly port?: number
  /** With false, no hosts are served at `/mcp`. */
  readonly hosts?: boolean
  /**
   * Changes in these folders restart the server. Default: those of the files in the command, or `src`. None for a URL.
   */
  readonly watch?: readonly string[]
  /** Environment of the server's process. Default: that of this process. A state key is added if there is none. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /** Folder of the server's process. Default: that of this process. */
  readonly cwd?: string
  /** Headers and logins for a server at a URL. */
  readonly http?: Pick<HttpConnectOptions, 'headers' | 'auth'>
  /** Token of a second user at a URL, for the fault "other user". */
  readonly otherToken?: string | undefined
}

/** A served page. */
export interface DevServer {
  /** Address of the page, with its token after the `#`. All who have it can command the server. */
  readonly pageUrl: string
  /** Endpoint for hosts. Undefined if none are served. */
  readonly hostUrl: string | undefined
  /** Stops the page and the server's processes. */
  close(): Promise<void>
}
