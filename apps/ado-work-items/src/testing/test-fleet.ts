import type { ClientExtension } from '@x/client'
import { memoryEngine } from '@x/tasks/memory'
import { type Answers, type ServerKit, testClient, type TestClient, type TestClientOptions } from '@x/testing'
import { type AzureDevOps, createAzureDevOps } from '../azure-devops/create-azure-devops.ts'
import { createWorkItemsServer, type WorkItemsServer } from '../server/create-work-items-server.ts'
import { emulated } from './emulated.ts'

/** A wrapper around the Azure DevOps client of one instance, which simulates other behaviour. */
export type View = (azureDevOps: AzureDevOps) => AzureDevOps

/** The wrapper without changes. */
export const same: View = (azureDevOps) => azureDevOps

/** Several instances of the server in one process, with one emulator and one task store. */
export interface TestFleet<E extends readonly ClientExtension[] = readonly []> extends AsyncDisposable {
  readonly azureDevOps: AzureDevOps
  readonly client: TestClient<WorkItemsServer, E>
  /** Returns the keys and texts of the questions so far. */
  asked(): readonly (readonly [key: string, message: string])[]
  revisions(...ids: readonly number[]): Promise<number[]>
  /** Changes a work item as another user. */
  touch(id: number): Promise<void>
}

/** The options of a test's fleet. */
export interface TestFleetOptions<E extends readonly ClientExtension[] = readonly []>
  extends Pick<TestClientOptions, 'outputSchemaCompiler'> {
  /** The wrappers, one for each instance. Default: one instance without changes. */
  readonly views?: readonly View[]
  /** The answers by the keys of questions. Without answers, the client cannot ask its user. */
  readonly answers?: Answers
  readonly extensions?: E
}

/** Starts one instance for each wrapper, and a client. Successive requests go to the next instance. */
export async function testFleet<const E extends readonly ClientExtension[] = readonly []>({
  views = [same],
  answers,
  ...others
}: TestFleetOptions<E> = {}): Promise<TestFleet<E>> {
  const service = await emulated()
  const { azureDevOps, connection } = service
  const engine = memoryEngine()
  // An instance that stops closes its engine, which the other instances still need.
  const tasks = { store: { ...engine, close: async () => {} }, pollIntervalMs: 50 }
  let made = 0
  const create = (kit: ServerKit): WorkItemsServer => {
    const view = views[made++] ?? same
    return createWorkItemsServer(view(createAzureDevOps(connection)), { ...kit, tasks })
  }
  const client = testClient<WorkItemsServer, E>(create, {
    ...others,
    answers,
    capabilities: answers === undefined ? {} : { elicitation: { form: {} } },
    instanceCount: views.length,
    cache: false,
  })
  const { signal } = new AbortController()
  return {
    azureDevOps,
    client,
    asked: () => client.observations.questions.map(({ key, message }) => [key, message]),
    revisions: async (...ids) => (await azureDevOps.getWorkItems(ids, signal)).map(({ rev }) => rev),
    touch: async (id) => {
      await azureDevOps.updateWorkItem(id, { fields: { 'System.Tags': 'seen' }, links: [] }, signal)
    },
    [Symbol.asyncDispose]: async () => {
      for (const instance of client.instances) await instance.close({ graceMs: 1 })
      await client.close()
      await engine.close()
      await service[Symbol.asyncDispose]()
    },
  }
}
