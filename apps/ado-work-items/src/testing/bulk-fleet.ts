import { type Client, createClient, type ElicitAnswer } from '@x/client'
import type { ElicitRequestFormParams, Exchange } from '@x/schema'
import { sealedState } from '@x/server'
import { type TaskCalls, tasks } from '@x/tasks/client'
import { memoryEngine } from '@x/tasks/memory'
import { type AzureDevOps, createAzureDevOps } from '../azure-devops/create-azure-devops.ts'
import { createWorkItemsServer, type WorkItemsServer } from '../server/create-work-items-server.ts'
import { type Emulated, emulated } from './emulated.ts'

const key = '8f1d2c3b4a5968778695a4b3c2d1e0f00f1e2d3c4b5a69788796a5b4c3d2e1f0'

/** Several instances of the server in one process, over one emulator and one store of tasks. */
export interface BulkFleet extends AsyncDisposable {
  readonly emulated: Emulated
  readonly exchange: Exchange
  readonly instances: readonly WorkItemsServer[]
  revisions(...ids: readonly number[]): Promise<number[]>
  /** Changes a work item as somebody else. */
  touch(id: number): Promise<void>
}

/** Starts as many instances as there are views of Azure DevOps; each request goes to the next one. */
export async function bulkFleet(...views: readonly ((azureDevOps: AzureDevOps) => AzureDevOps)[]): Promise<BulkFleet> {
  const service = await emulated()
  const engine = memoryEngine()
  // An instance that stops lets go of the engine, which the others need.
  const shared = { ...engine, close: async () => {} }
  const instances = (views.length === 0 ? [asItIs] : views).map((view) =>
    createWorkItemsServer(view(createAzureDevOps(service.connection)), {
      state: sealedState({ keys: [key] }),
      tasks: { engine: shared, pollIntervalMs: 50 },
    }),
  )
  let served = 0
  const { signal } = new AbortController()
  return {
    emulated: service,
    instances,
    exchange: (request, call) => {
      const instance = instances[served++ % instances.length]
      return instance === undefined
        ? Promise.reject(new Error('there are no instances'))
        : instance.exchange(request, call)
    },
    revisions: async (...ids) => (await service.azureDevOps.getWorkItems(ids, signal)).map(({ rev }) => rev),
    touch: async (id) => {
      await service.azureDevOps.updateWorkItem(id, { fields: { 'System.Tags': 'seen' }, links: [] }, signal)
    },
    [Symbol.asyncDispose]: async () => {
      for (const instance of instances) await instance.close({ graceMs: 1 })
      await engine.close()
      await service[Symbol.asyncDispose]()
    },
  }
}

function asItIs(azureDevOps: AzureDevOps): AzureDevOps {
  return azureDevOps
}

const options = { name: 'test', version: '1.0.0', cache: false } as const

/** What both kinds of clients can do. */
export type BulkClient = Pick<Client, 'callTool'>

/** A client whose calls go on as tasks. */
export function withTasks(exchange: Exchange): BulkClient & { readonly tasks: TaskCalls } {
  return createClient(exchange, { ...options, extensions: [tasks()] })
}

/** A client that knows no tasks. */
export function withoutTasks(exchange: Exchange): BulkClient {
  return createClient(exchange, options)
}

/** An answer to a question, or what is done in its place. */
export type Answer = Readonly<Record<string, string | number>> | 'decline' | 'cancel'

/** Somebody who is asked. */
export interface Person {
  /** What they were asked, under which key. */
  readonly asked: readonly (readonly [key: string, message: string])[]
  readonly elicit: (question: ElicitRequestFormParams, context: { readonly key: string }) => ElicitAnswer
}

/** Somebody who answers in the order of the questions. */
export function person(...answers: readonly Answer[]): Person {
  const asked: [key: string, message: string][] = []
  const elicit = (question: ElicitRequestFormParams, context: { readonly key: string }): ElicitAnswer => {
    const answer = answers[asked.length]
    asked.push([context.key, question.message])
    if (answer === undefined) throw new Error(`nobody expected to be asked ${context.key}: ${question.message}`)
    return typeof answer === 'string' ? { action: answer } : { action: 'accept', content: { ...answer } }
  }
  return { asked, elicit }
}
