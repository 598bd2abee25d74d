import { memoryEngine } from '@x/tasks/memory'

const engine = memoryEngine()
await engine.create({ id: 'task-1', owner: 'ada', payload: { do: 'greet' }, lifeMs: 60_000, ownerLimit: 10 })

// A worker: nobody else has the task now, and only this attempt may write to it.
for (const task of await engine.claim(1)) {
  const result = { resultType: 'complete', content: [{ type: 'text', text: `Did ${task.payload['do']}` }] }
  await engine.finish(task, { outcome: { status: 'completed', result }, lifeMs: 60_000 })
}

export const status: string | undefined = (await engine.get('task-1', 'ada'))?.status
