import { createClient, type ElicitAnswer } from '@x/client'
import { connectStdio } from '@x/transport-stdio'
import { beforeAll, expect, test } from 'vitest'
import { checkBuilt, command } from './testing/start-app.ts'

beforeAll(checkBuilt)

test('with --stdio it serves the host that started it, and prints nothing else', async () => {
  const warnings: unknown[] = []
  const stderr = (line: string): void => void warnings.push(line)
  const connection = connectStdio({ ...command(['--stdio']), stderr, log: (record) => void warnings.push(record) })
  const elicit = (): ElicitAnswer => ({ action: 'accept', content: { resolution: 'Fixed' } })
  const client = createClient(connection, { name: 'test', version: '1.0.0', elicit })
  const { content } = await client.callTool('update_work_item', {
    workItemId: 4522,
    fields: { 'System.State': 'Resolved' },
  })
  expect(content).toContainEqual(expect.objectContaining({ text: expect.stringContaining('Bug #4522 was changed') }))
  await connection.close()
  expect(warnings).toEqual([])
})
