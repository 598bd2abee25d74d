import { createClient, type InputHandlers } from '@x/client'
import type { ClientTarget } from '@x/exchange'
import type { CallToolResult } from '@x/schema'
import { isTaskError, tasksClient } from '@x/tasks/client'

/** The storage of a host. */
export interface Notebook {
  readonly write: (text: string) => Promise<void>
  readonly read: () => Promise<string>
}

// #region call
export async function shipAll(
  target: ClientTarget,
  elicit: InputHandlers['elicit'],
  show: (line: string) => void,
): Promise<CallToolResult> {
  const client = createClient(target, { name: 'host', version: '1.0.0', elicit, extensions: [tasksClient()] })
  return client.callTool(
    'ship_orders',
    { day: 'monday' },
    { signal: AbortSignal.timeout(3_600_000), onProgress: ({ message = 'working' }) => show(message) },
  )
}
// #endregion call

// #region start
export async function startShipping(target: ClientTarget, notes: Notebook): Promise<string> {
  const client = createClient(target, {
    name: 'host',
    version: '1.0.0',
    // The process that resumes the task answers its questions.
    capabilities: { elicitation: { form: {} } },
    extensions: [tasksClient({ user: 'ada' })],
  })
  const started = await client.tasks.start('ship_orders', { day: 'monday' })
  // The server did not make it a task, or rejected the arguments.
  if (started.status === 'complete') return started.result.isError === true ? 'not shipped' : 'the orders are shipped'
  await notes.write(JSON.stringify(started.task.serialize()))
  return 'the orders are being shipped'
}
// #endregion start

// #region resume
export async function resumeShipping(
  target: ClientTarget,
  notes: Notebook,
  elicit: InputHandlers['elicit'],
): Promise<CallToolResult | 'nothing'> {
  const extensions = [tasksClient({ user: 'ada' })]
  const client = createClient(target, { name: 'host', version: '1.0.0', elicit, extensions })
  const task = client.tasks.resume(JSON.parse(await notes.read()))
  try {
    return await task.result()
  } catch (error) {
    if (isTaskError(error) && (error.code === 'cancelled' || error.code === 'expired')) return 'nothing'
    throw error
  }
}
// #endregion resume
