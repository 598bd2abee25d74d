import type { JsonObject, JsonValue } from '@x/core'
import type { ElicitRequestFormParams, Tool } from '@x/schema'
import type { ArmedFault, FaultKind } from './wire/fault.ts'

/** What the server is doing, as the command sees it. */
export type ServerStatus =
  /** Started for the first time. */
  | 'starting'
  | 'ready'
  /** Another process takes over. Calls wait for it. */
  | 'restarting'
  /** The process has ended by itself. The next change of a file starts it again. */
  | 'ended'
  /** It runs, or is reachable, and does not answer its first request. */
  | 'silent'

/** The state of the server. */
export interface ServerState {
  readonly status: ServerStatus
  /** The command line or the URL, as the user wrote it. */
  readonly target: string
  /** How the server is reached. Undefined until its first output has decided. */
  readonly transport: 'http' | 'stdio' | undefined
  /** True for a server that this command starts, so that it can also restart and kill it. */
  readonly isOwn: boolean
  /** The processes of the server, which answer in turns. */
  readonly pids: readonly number[]
  /** The name and version that the server gives. */
  readonly name: string | undefined
  /** The revision that the page and the server speak. */
  readonly revision: string | undefined
  /** Milliseconds from the change, the kill or the start to the first answer. */
  readonly startMs: number | undefined
  /** Why the server is not ready: how it ended, and its last lines. */
  readonly reason: string | undefined
  /** The folders whose changes restart the server. */
  readonly watched: readonly string[]
}

/** How a call ended, or that it still runs. */
export type CallStatus = 'running' | 'done' | 'tool_error' | 'failed' | 'stopped'

/** A call of the page, or of a host that uses `/mcp`. */
export interface CallView {
  readonly id: number
  readonly source: 'page' | 'host'
  readonly method: string
  /** The tool, prompt or resource. */
  readonly target: string
  readonly args: JsonObject
  readonly status: CallStatus
  readonly startedAt: number
  readonly durationMs: number | undefined
  readonly result: JsonValue | undefined
  readonly error: string | undefined
  /** What a fault of this call has shown, and what would change it. */
  readonly lesson: string | undefined
}

/** A question that waits for an answer. */
export interface QuestionView {
  readonly id: number
  readonly callId: number
  /** The key that the server gave the question. */
  readonly key: string
  readonly kind: 'form' | 'url'
  readonly message: string
  readonly schema: ElicitRequestFormParams['requestedSchema'] | undefined
  readonly url: string | undefined
}

/** A message between the client and the server, as it was on the wire. */
export interface MessageView {
  readonly callId: number | undefined
  readonly direction: 'sent' | 'received'
  readonly transport: 'http' | 'stdio'
  readonly pid: number | undefined
  /** The JSON, cut after {@link maxTextLength} characters. */
  readonly text: string
  readonly bytes: number
  /** The number of bytes of `requestState` in the message. */
  readonly stateBytes: number | undefined
  readonly http: HttpHead | undefined
  /** What a fault did with the message. */
  readonly note: string | undefined
}

/** The head of an HTTP request or response. Secrets are left out. */
export interface HttpHead {
  readonly method: string | undefined
  readonly status: number | undefined
  readonly headers: Readonly<Record<string, string>>
}

/** A panel of the program that serves the page. */
export interface PanelView {
  readonly name: string
  readonly title: string
}

/** One event of the command. */
export type DevEvent =
  | { readonly type: 'panels'; readonly panels: readonly PanelView[] }
  | { readonly type: 'server'; readonly server: ServerState }
  | { readonly type: 'tools'; readonly tools: readonly Tool[]; readonly problem: string | undefined }
  | { readonly type: 'call'; readonly call: CallView }
  | { readonly type: 'question'; readonly question: QuestionView; readonly isOpen: boolean }
  | { readonly type: 'fault'; readonly armed: ArmedFault | undefined; readonly available: readonly FaultKind[] }
  | { readonly type: 'message'; readonly message: MessageView }
  /** A decision of the client about a call. */
  | { readonly type: 'client'; readonly callId: number | undefined; readonly text: string }
  | { readonly type: 'output'; readonly pid: number | undefined; readonly text: string }

/** An event with its number and its time. */
export type StampedEvent = DevEvent & { readonly seq: number; readonly at: number }

/** New data of a panel, which only one page gets. A `problem` ends the data. */
export interface PanelEvent {
  readonly type: 'panel'
  readonly name: string
  readonly value?: JsonValue
  readonly problem?: string
}

/** The largest number of characters that the record keeps of one message. */
export const maxTextLength = 256 * 1024
