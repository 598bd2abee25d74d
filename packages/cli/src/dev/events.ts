import type { JsonObject, JsonValue } from '@x/core'
import type { ElicitRequestFormParams, Prompt, Resource, ResourceTemplate, Tool } from '@x/schema'
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
  /** It answers once a user has logged in. */
  | 'login_needed'
  /** It runs, or is reachable, and does not answer its first request. */
  | 'silent'

export interface ServerState {
  readonly status: ServerStatus
  /** Command line or URL, as the user wrote it. */
  readonly target: string
  /** How the server is reached. Undefined until its first output has decided. */
  readonly transport: 'http' | 'stdio' | undefined
  /** True if this command starts the server, so that it can also restart and kill it. */
  readonly isOwn: boolean
  /** Its processes, which answer in turns. */
  readonly pids: readonly number[]
  /** Name and version that the server gives. */
  readonly name: string | undefined
  /** Host whose declarations the page uses. Undefined for a client that can do everything. */
  readonly profile: string | undefined
  /** Revision that the page and the server speak. */
  readonly revision: string | undefined
  /** Milliseconds from the change, the kill or the start to the first answer. */
  readonly startMs: number | undefined
  /** Why the server's processes cannot continue each other's calls. */
  readonly notice: string | undefined
  /** Why the server is not ready: how it ended, and its last lines, or where a user logs in. */
  readonly reason: string | undefined
  /** Folders whose changes restart the server. */
  readonly watched: readonly string[]
}

/** What the page can call. */
export const callKinds = ['tool', 'prompt', 'resource', 'template', 'skill'] as const

export type CallKind = (typeof callKinds)[number]

/** How a call ended, or that it still runs. */
export type CallStatus = 'running' | 'done' | 'tool_error' | 'failed' | 'stopped'

/** A call of the page, or of a host that uses `/mcp`. */
export interface CallView {
  readonly id: number
  readonly source: 'page' | 'host'
  readonly method: string
  readonly target: string
  readonly args: JsonObject
  readonly status: CallStatus
  readonly startedAt: number
  readonly durationMs: number | undefined
  readonly result: JsonValue | undefined
  readonly error: string | undefined
  /** What a fault of this call has shown, and what would change it. */
  readonly lesson: string | undefined
  /** What to change about a call that failed without a fault. */
  readonly remedy: string | undefined
}

/** A list of the server, and why it is empty if it could not be read. */
export interface List<T> {
  readonly items: readonly T[]
  readonly problem: string | undefined
}

/** What the server offers. */
export interface ServerLists {
  readonly tools: List<Tool>
  readonly prompts: List<Prompt>
  readonly resources: List<Resource>
  readonly templates: List<ResourceTemplate>
  readonly skills: List<{ readonly uri: string; readonly name: string; readonly description: string }>
  /** What hosts refuse. A warning without a tool is about all of them. */
  readonly warnings: readonly { readonly tool: string | undefined; readonly message: string }[]
}

/** A task that a call of the page became. */
export interface TaskView {
  readonly id: string
  readonly callId: number
  readonly tool: string
  readonly status: string
}

/** What one check of `mcpx doctor` found. */
export interface DoctorFinding {
  readonly id: string
  readonly status: 'ok' | 'wrong' | 'skipped'
  readonly found: string
  /** What to change. */
  readonly change?: string
}

/** What `mcpx doctor` found. */
export interface DoctorView {
  readonly isRunning: boolean
  readonly findings: readonly DoctorFinding[]
}

/** A question that waits for an answer. */
export interface QuestionView {
  readonly id: number
  readonly callId: number
  /** Tool, prompt or resource that asks. Behind a gateway, it begins with the name of the server. */
  readonly target: string | undefined
  /** Key that the server gave the question. */
  readonly key: string
  readonly kind: 'form' | 'url' | 'sampling'
  readonly message: string
  /** Why the question is asked again. Undefined for its first time in a call. */
  readonly again: string | undefined
  readonly schema: ElicitRequestFormParams['requestedSchema'] | undefined
  readonly url: string | undefined
  /** What a model is asked, for `sampling`. */
  readonly sampling: JsonValue | undefined
}

/** A message between the client and the server, as it was on the wire. */
export interface MessageView {
  readonly callId: number | undefined
  readonly direction: 'sent' | 'received'
  readonly transport: 'http' | 'stdio'
  readonly pid: number | undefined
  /** JSON, cut after {@link maxTextLength} characters. */
  readonly text: string
  readonly bytes: number
  /** Bytes of `requestState` in the message. */
  readonly stateBytes: number | undefined
  readonly http: HttpHead | undefined
  /** What a fault did with the message. */
  readonly note: string | undefined
}

/** Head of an HTTP request or response, without secrets. */
export interface HttpHead {
  readonly url: string | undefined
  readonly method: string | undefined
  readonly status: number | undefined
  readonly headers: Readonly<Record<string, string>>
}

export type DevEvent =
  /** What stays the same while the command runs. */
  | {
      readonly type: 'setup'
      /** Panels of the program that serves the page. */
      readonly panels: readonly { readonly name: string; readonly title: string }[]
      /** Hosts that the page can act as. */
      readonly hosts: readonly { readonly host: string; readonly revision: string }[]
      readonly hostUrl: string | undefined
    }
  | { readonly type: 'server'; readonly server: ServerState }
  | { readonly type: 'lists'; readonly lists: ServerLists }
  | { readonly type: 'task'; readonly task: TaskView }
  /** Where the user logs in, and what a call needs beyond an earlier login. Without a URL that is done. */
  | { readonly type: 'login'; readonly url: string | undefined; readonly addedScopes?: readonly string[] }
  | { readonly type: 'doctor'; readonly doctor: DoctorView }
  | { readonly type: 'call'; readonly call: CallView }
  | { readonly type: 'question'; readonly question: QuestionView; readonly isOpen: boolean }
  | { readonly type: 'fault'; readonly armed: ArmedFault | undefined; readonly available: readonly FaultKind[] }
  | { readonly type: 'message'; readonly message: MessageView }
  /** What the client decided about a call. */
  | { readonly type: 'client'; readonly callId: number | undefined; readonly text: string }
  | { readonly type: 'output'; readonly pid: number | undefined; readonly text: string }

export type StampedEvent = DevEvent & { readonly seq: number; readonly at: number }

/** New data of a panel, which only one page gets. A `problem` ends the data. */
export interface PanelEvent {
  readonly type: 'panel'
  readonly name: string
  readonly value?: JsonValue
  readonly problem?: string
}

/** Characters that the record keeps of one message. */
export const maxTextLength = 256 * 1024
