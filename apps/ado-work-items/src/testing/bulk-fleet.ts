import type { ClientCapabilities } from '@x/schema'
import { memoryEngine } from '@x/tasks/memory'
import { type TaskCalls, taskCalls } from '@x/tasks/client'
import { type Answers, type ServerKit, testClient, type TestClient } from '@x/testing'
import { type AzureDevOps, createAzureDevOps } from '../azure-devops/create-azure-devops.ts'
import { createWorkItemsServer, type WorkItemsServer } from '../server/create-work-items-server.ts'
import { type Emulated, emulated } from './emulated.ts'

/** A view of Azure DevOps, which one instance has. */
export type View = (azureDevOps: AzureDevOps) => AzureDevOps

/** Azure DevOps as it is. */
export const same: View = (azureDevOps) => azureDevOps

/** The client of a fleet; it has the calls of tasks where it knows tasks. */
export type BulkClient = Pick<
  TestClient<WorkItemsServer>,
  'callTool' | 'manualRounds' | 'observations' | 'instances'
> & {
  readonly tasks?: TaskCalls
}

/** Several instances of the server in one process, over one emulator and one store of tasks. */
export interface BulkFleet<C extends BulkClient = BulkClient> extends AsyncDisposable {
  readonly emulated: Emulated
  readonly client: C
  /** Returns the keys and texts of the questions so far. */
  asked(): readonly (readonly [key: string, message: string])[]
  revisions(...ids: readonly number[]): Promise<number[]>
  /** Changes a work item as another user. */
  touch(id: number): Promise<void>
}

/** The differences between the fleets of two tests. */
export interface BulkOptions {
  /** One instance for each view of Azure DevOps; one instance when absent. */
  readonly views?: readonly View[]
  /** Answers by the keys of questions; without any, the client cannot ask its user. */
  readonly answers?: Answers
}

/** Starts instances, and a client whose calls continue as tasks. */
export function withTasks(options: BulkOptions = {}): Promise<BulkFleet<BulkClient & { readonly tasks: TaskCalls }>> {
  return bulkFleet(options, (create, others) => testClient(create, { ...others, extensions: [taskCalls()] }))
}

/** Starts instances, and a client that knows no tasks. */
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

/** Starts as many instances as there are views; each request goes to the next one. */
async function bulkFleet<C extends BulkClient & AsyncDisposable>(
  { views = [same], answers }: BulkOptions,
  connect: Connect<C>,
): Promise<BulkFleet<C>> {
  const service = await emulated()
  const engine = memoryEngine()
  // An instance that stops lets go of the engine, which the others need.
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
