import { computed, type ReadonlySignal, type Signal, signal } from '@preact/signals'
import { createClient } from '@x/client'
import type { Exchange } from '@x/exchange'
import type { JsonObject } from '@x/schema'
import { type Calls, createCalls, type OpenClient, type Revision } from './calls.ts'
import { type RecordedClient, recordMessages } from './messages.ts'
import { createQuestions, type Questions } from './questions.ts'
import { createTools, type Tools } from './tools.ts'
import { roundWatch } from '../../../src/walk-through/round-watch.ts'
import { createWorkItems, type WorkItems } from './work-items.ts'

/** The state of the page and its operations. */
export interface Session {
  readonly workItems: WorkItems
  readonly tools: Tools
  readonly questions: Questions
  readonly calls: Calls
  /** The revision of the next call. */
  readonly revision: Signal<Revision>
  /** `false` if the page has no client of an older revision. */
  readonly hasOlderClient: boolean
  /** The name of the server. Undefined until its first response. */
  readonly server: ReadonlySignal<string | undefined>
  /** The address of the server. */
  readonly address: string
  /** The text for screen readers: the last outcome. */
  readonly announcement: ReadonlySignal<string>
  /** Reads the tools and the work items. `form` is a result of `tools.serialize`, whose input is restored. */
  start(form?: string): Promise<void>
  /** Calls the selected tool, then reads the work items again. */
  call(args: JsonObject): Promise<void>
}

/**
 * Creates the state of the page for a server. Results are not cached, because the page shows the current state of the
 * server. `openOlderClient` is called before the first call of revision 2025-11-25.
 */
export function createSession(
  exchange: Exchange,
  address: string,
  openOlderClient?: () => Promise<RecordedClient>,
): Session {
  const recorded = recordMessages(exchange)
  const client = createClient(recorded.exchange, {
    name: 'work-items-page',
    version: '0.1.0',
    cache: false,
    extensions: [roundWatch()],
  })
  const server = signal<string | undefined>(undefined)
  const workItems = createWorkItems(client)
  const tools = createTools(client, workItems)
  const questions = createQuestions()
  const revision = signal<Revision>('2026-07-28')
  let olderClient: Promise<RecordedClient> | undefined
  const openClient: OpenClient = async (wanted) => {
    if (wanted === '2026-07-28' || openOlderClient === undefined) return { client, takeMessages: recorded.takeMessages }
    olderClient ??= openOlderClient()
    return olderClient
  }
  const calls = createCalls(openClient, questions)

  const announcement = computed(() => {
    const [last] = calls.runs.value
    if (last === undefined) return ''
    return last.outcome?.text ?? `Calling ${last.tool} …`
  })
  const showServer = (): void => {
    if (client.serverInfo !== undefined) server.value = `${client.serverInfo.name} ${client.serverInfo.version}`
  }
  const start = async (form?: string): Promise<void> => {
    const loadTools = async (): Promise<void> => {
      await tools.load()
      if (form !== undefined) tools.restore(form)
    }
    await Promise.all([loadTools(), workItems.reload()])
    showServer()
  }
  const call = async (args: JsonObject): Promise<void> => {
    const picked = tools.picked.value
    if (picked === undefined) return
    await calls.call(picked.tool.name, args, revision.value)
    await workItems.reload()
  }
  const hasOlderClient = openOlderClient !== undefined
  return { workItems, tools, questions, calls, revision, hasOlderClient, server, address, announcement, start, call }
}
