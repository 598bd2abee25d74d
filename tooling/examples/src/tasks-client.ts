import { createClient, type InputHandlers } from '@x/client'
import type { CallToolResult, Exchange } from '@x/schema'
import { isTaskFailure, withTasks } from '@x/tasks/client'

/** Where a host writes things down. */
export interface Notebook {
  readonly write: (text: string) => Promise<void>
  readonly read: () => Promise<string>
}

// #region call
export async function shipAll(
  connection: Exchange,
  elicit: InputHandlers['elicit'],
  show: (line: string) => void,
): Promise<CallToolResult> {
  const client = withTasks(createClient(connection, { name: 'host', version: '1.0.0', elicit }))
  return client.callTool(
    'ship_orders',
    { day: 'monday' },
    { signal: AbortSignal.timeout(3_600_000), onProgress: ({ message = 'working' }) => show(message) },
  )
}
// #endregion call

// #region start
export async function startShipping(connection: Exchange & { readonly url: string }, notes: Notebook): Promise<string> {
  const client = withTasks(createClient(connection, { name: 'host', version: '1.0.0' }), { user: 'ada' })
  const started = await client.startTask('ship_orders', { day: 'monday' })
  if (started.status === 'complete') return 'shipped at once'
  await notes.write(JSON.stringify(started.task.keep()))
  return 'the orders are being shipped'
}
// #endregion start

// #region resume
export async function lookAgain(
  connection: Exchange & { readonly url: string },
  notes: Notebook,
  show: (line: string) => void,
): Promise<CallToolResult | 'nothing'> {
  const client = withTasks(createClient(connection, { name: 'host', version: '1.0.0' }), { user: 'ada' })
  const task = client.resumeTask(JSON.parse(await notes.read()))
  for await (const { status, statusMessage = '' } of task) show(`${status} ${statusMessage}`.trim())
  try {
    return await task.result()
  } catch (error) {
    if (isTaskFailure(error) && (error.code === 'cancelled' || error.code === 'expired')) return 'nothing'
    throw error
  }
}
// #endregion resume
