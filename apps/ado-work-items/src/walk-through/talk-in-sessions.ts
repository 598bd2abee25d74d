import type { ClientSession } from '@x/sessions/client'
import { textOf } from './connect.ts'
import { expect, type Line, type Step, type StepScope } from './step.ts'

/** Runs two conversations, each about its own work item. In each of them "set it to Active" changes that work item. */
export function talkInSessions(title: string, workItemIds: readonly [number, number]): Step {
  return {
    title,
    ask: 'sessions/create, twice',
    run: async (scope) => {
      await using first = await scope.client.sessions.create({ signal: scope.signal })
      await using second = await scope.client.sessions.create({ signal: scope.signal })
      const talks = [
        { id: workItemIds[0], session: first },
        { id: workItemIds[1], session: second },
      ]
      const lines: Line[] = []
      for (const { id, session } of talks) lines.push(await read(id, session, scope))
      for (const { id, session } of talks) lines.push(...(await setActive(id, session, scope)))
      return lines
    },
  }
}

async function read(workItemId: number, session: ClientSession, { signal }: StepScope): Promise<Line> {
  const [line = ''] = textOf(await session.callTool('get_work_item', { workItemId }, { signal }))
  expect(line.includes(`#${workItemId}`), `it should read ${workItemId}: ${line}`)
  return { mark: '→', text: `in one session: get_work_item ${workItemId}` }
}

async function setActive(id: number, session: ClientSession, { signal }: StepScope): Promise<readonly Line[]> {
  const result = await session.callTool('update_last_work_item', { fields: { 'System.State': 'Active' } }, { signal })
  const text = textOf(result).join(' ')
  expect(result.isError !== true && text.includes(`#${id}`), `it should change ${id}: ${text}`)
  return [{ mark: '→', text: 'in that session: update_last_work_item { "System.State": "Active" }' }, text]
}
