import type { ClientCapabilities } from '@x/schema'
import { memoryEngine } from '@x/tasks/memory'
import { type TasksClient, tasksClient } from '@x/tasks/client'
import { type Answers, type ServerKit, testClient, type TestClient } from '@x/testing'
import { type AzureDevOps, createAzureDevOps } from '../azure-devops/create-azure-devops.ts'
import { createWorkItemsServer, type WorkItemsServer } from '../server/create-work-items-server.ts'
import { type Emulated, emulated } from './emulated.ts'

/** A wrapper around the Azure DevOps client of one instance, which simulates other behaviour. */
export type View = (azureDevOps: AzureDevOps) => AzureDevOps

/** The wrapper without changes. */
export const same: View = (azureDevOps) => azureDevOps

/** The client of a fleet. With tasks, it also has the task calls. */
export type BulkClient = Pick<
  TestClient<WorkItemsServer>,
  'callTool' | 'manualRounds' | 'observations' | 'instances'
> & {
  readonly tasks?: TasksClient
}

/** Several instances of the server in one process, with one emulator and one task store. */
export interface BulkFleet<C extends BulkClient = BulkClient> extends AsyncDisposable {
  readonly emulated: Emulated
  readonly client: C
  /** Returns the keys and texts of the questions so far. */
  asked(): readonly (readonly [key: string, message: string])[]
  revisions(...ids: readonly number[]): Promise<number[]>
  /** Changes a work item as another user. */
  touch(id: number): Promise<void>
}

/** The options of a test's fleet. */
export interface BulkOptions {
  /** The wrappers, one for each instance. Default: one instance without changes. */
  readonly views?: readonly View[]
  /** The answers by the keys of questions. Without answers, the client cannot ask its user. */
  readonly answers?: Answers
}

/** Starts instances and a client that supports tasks. */
export function withTasks(options: BulkOptions = {}): Promise<BulkFleet<BulkClient & { readonly tasks: TasksClient }>> {
  return bulkFleet(options, (create, others) => testClient(create, { ...others, extensions: [tasksClient()] }))
}

/** Starts instances and a client that does not support tasks. */
export function withoutTasks(options: BulkOptions = {}): Promise<BulkFleet> {
  return bulkFleet(options, (create, others) => testClient(create, others))
}

interface ClientSettings {
  readonly answers: Answers
  readonly capabilities: ClientCapabilities
  readonly instanceCount: number
  readonly cache: false
}

type Connect<C> = (create: (kit: ServerKit) => WorkItemsServer, settings: ClientSettings) => C

/** Starts one instance for each wrapper. Successive requests go to the next instance. */
async function bulkFleet<C extends BulkClient & AsyncDisposable>(
  { views = [same], answers }: BulkOptions,
  connect: Connect<C>,
): Promise<BulkFleet<C>> {
  const service = await emulated()
  const engine = memoryEngine()
  // An instance that stops closes its engine, which the other instances still need.
  const shared = { ...engine, close: async () => {} }
  let made = 0
  const create = (kit: ServerKit): WorkItemsServer => {
    const view = views[made++] ?? same
    return createWorkItemsServer(view(createAzureDevOps(service.connection)), {
      ...kit,
      tasks: { store: shared, pollIntervalMs: 50 },
    })
  }
  const client = connect(create, {
    answers: answers ?? {},
    capabilities: answers === undefined ? {} : { elicitation: { form: {} } },
    instanceCount: views.length,
    cache: false,
  })
  const { signal } = new AbortController()
  return {
    emulated: service,
    client,
    asked: () => client.observations.questions.map(({ key, message }) => [key, message]),
    revisions: async (...ids) => (await service.azureDevOps.getWorkItems(ids, signal)).map(({ rev }) => rev),
    touch: async (id) => {
      await service.azureDevOps.updateWorkItem(id, { fields: { 'System.Tags': 'seen' }, links: [] }, signal)
    },
    [Symbol.asyncDispose]: async () => {
      for (const instance of client.instances) await instance.close({ graceMs: 1 })
      await client[Symbol.asyncDispose]()
      await engine.close()
      await service[Symbol.asyncDispose]()
    },
  }
}
