import { createClient, type InputHandlers } from '@x/client'
import type { ClientTarget } from '@x/exchange'
import type { CallToolResult } from '@x/schema'
import { isTaskError, type TaskHandle, tasksClient } from '@x/tasks/client'

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
/** Returns the task as JSON, for you to save. */
export async function startShipping(target: ClientTarget): Promise<string | undefined> {
  const client = createClient(target, {
    name: 'host',
    version: '1.0.0',
    // The process that resumes the task answers its questions.
    capabilities: { elicitation: { form: {} } },
    extensions: [tasksClient({ user: 'ada' })],
  })
  const started = await client.tasks.start('ship_orders', { day: 'monday' })
  // It did not become a task: `started.result` is its result, which may have `isError`.
  if (started.status === 'complete') return undefined
  return JSON.stringify(started.task.serialize())
}
// #endregion start

// #region resume
export async function resumeShipping(
  target: ClientTarget,
  savedTask: string,
  elicit: InputHandlers['elicit'],
): Promise<CallToolResult | 'nothing'> {
  const extensions = [tasksClient({ user: 'ada' })]
  const client = createClient(target, { name: 'host', version: '1.0.0', elicit, extensions })
  try {
    return await client.tasks.resume(JSON.parse(savedTask)).result()
  } catch (error) {
    if (isTaskError(error) && (error.code === 'cancelled' || error.code === 'expired')) return 'nothing'
    throw error
  }
}
// #endregion resume

// #region answer
export async function answerLater(task: TaskHandle, ask: (message: string) => Promise<string>): Promise<void> {
  for await (const state of task) {
    if (state.status !== 'input_required') continue
    // An answer that the server rejects is asked for again, under another key.
    for (const [key, question] of Object.entries(state.inputRequests)) {
      if (question.method !== 'elicitation/create') continue
      const carrier = await ask(question.params.message)
      await task.answer({ [key]: { action: 'accept', content: { carrier } } })
    }
  }
}
// #endregion answer
