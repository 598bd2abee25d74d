import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serveOrganization } from './testing/organization.ts'
import { checkBuilt, endStarted, start } from './testing/start-app.ts'

const folders: string[] = []

beforeAll(checkBuilt)
afterAll(() => {
  endStarted()
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

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

describe.concurrent('a script', () => {
  test('answers in the place of a person', async () => {
    const answers = {
      work_item: { workItemId: 4533 },
      resolution: { resolution: 'Duplicate' },
      duplicate_of: { duplicateOfId: 4517 },
    }
    const { code, output, errors } = await start(['--once', '--port', '0', '--answers', written(answers)]).ended
    expect(errors).toBe('')
    expect(output).toMatch(/round 1: instance \d asks, and leaves \d+ bytes of state with the client/)
    expect(output).toContain('✔  Bug #4533 resolved as Duplicate of Bug #4517.')
    expect(code).toBe(0)
  })

  test('reports missing answers, and ends with 1', async () => {
    const answers = written({ work_item: { workItemId: 4533 } })
    const { code, output } = await start(['--once', '--port', '0', '--answers', answers]).ended
    expect(output).toContain('All 15 steps went as expected.')
    expect(output).toMatch(/^✘ {2}\S+answers\.json has no answer to "resolution" \(Resolving Bug #4533/m)
    expect(code).toBe(1)
  })
})

/** Writes these answers to a file and returns its path. */
function written(answers: object): string {
  const folder = mkdtempSync(join(tmpdir(), 'answers-'))
  folders.push(folder)
  const path = join(folder, 'answers.json')
  writeFileSync(path, JSON.stringify(answers))
  return path
}
