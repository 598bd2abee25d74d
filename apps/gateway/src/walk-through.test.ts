import { createServer, tool } from '@x/server'
import { serveHttp } from '@x/transport-http/node'
import { expect, test } from 'vitest'
import { walkThrough } from './walk-through.ts'

test('a step that did not happen is reported, and so is the whole walk-through', async () => {
  const names = [
    'work-items__list_work_items',
    'everything__echo',
    'everything__trigger-elicitation-request',
    'files__read_text_file',
    'orders__deleteOrder',
  ]
  // A server without upstreams: nothing asks, nothing can be killed, and no tool is withheld.
  const tools = names.map((name) => tool(name, { description: name, run: () => 'done' }))
  const http = await serveHttp(createServer({ name: 'company', version: '1.0.0', tools }))
  const nothing = async (): Promise<void> => {}
  const printed: string[] = []
  const isGood = await walkThrough(
    {
      workItems: { kill: nothing, start: nothing },
      fleet: { url: http.url, instanceUrls: [http.url, http.url], restart: nothing },
      orders: { deleted: [] },
      note: 'note.txt',
      pinsFile: 'pins.json',
      signal: new AbortController().signal,
      takeLog: () => [],
    },
    (text) => printed.push(text),
  )
  await http.close({ graceMs: 0 })
  expect(isGood).toBe(false)
  for (const problem of [
    'No question was asked',
    'The user was not asked',
    'work-items__list_work_items succeeded',
    'The changed tool is listed',
    '4 of 5 steps did not go as expected.',
  ])
    expect(printed.join('\n')).toContain(problem)
})
