import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serveOrganization } from './testing/organization.ts'
import { checkBuilt, endStarted, start } from './testing/start-app.ts'

beforeAll(checkBuilt)
afterAll(endStarted)

// The walk-through that main.test.ts runs for each change, with other parts behind it.
describe.concurrent('the walk-through', () => {
  test('goes as expected with a Restate that decides which instance runs a task', async () => {
    const { code, output } = await start(['--once', '--port', '0', '--runner', 'restate']).ended
    for (const landmark of [
      'Restate decides which instance runs a task',
      'is killed on purpose, with SIGKILL, in the middle of a change.',
      '11 of 12 work items were changed: User Story #4601,',
      'All 15 steps went as expected.',
    ])
      expect(output.replace(/\s+/g, ' ')).toContain(landmark)
    expect(code).toBe(0)
  })

  test('only reads in a real organization', async () => {
    await using service = await serveOrganization()
    const { code, output } = await start(['--once', '--port', '0', '--instances', '1'], service.environment).ended
    expect(output).toContain('this walk-through only reads')
    expect(output).toContain('All 7 steps went as expected.')
    expect(output).not.toContain('update_work_item {')
    expect(code).toBe(0)
  })
})
