import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createServer, form, type ServerDefinition, tool } from '@x/server'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { z } from 'zod'
import type { ServerKit } from './index.ts'
import { checkRecordedStates, type RecordedCall } from './node.ts'

let folder = ''

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'states-'))
})

afterEach(() => rm(folder, { recursive: true, force: true }))

interface Version {
  readonly version?: string
  readonly name?: string
  readonly message?: string
  readonly end?: string
  readonly more?: boolean
}

const text = form(z.object({ text: z.string() }))

/** A version of a server whose tool asks twice, with a step in between. */
function version({
  version: number = '1',
  name = 'demo',
  message = 'First?',
  end = 'end',
  more = false,
}: Version = {}) {
  const ask = tool('ask', {
    description: 'Asks twice',
    input: z.object({ id: z.number() }),
    async run({ id }, ctx) {
      const first = await ctx.elicit('first', { message, schema: text })
      const saved = await ctx.step('save', () => ({ id, first: first.text }))
      const second = await ctx.elicit('second', { message: 'Second?', schema: text })
      if (more) await ctx.elicit('third', { message: 'Third?', schema: text })
      return `${saved.first} ${second.text} ${end}`
    },
  })
  const definition: ServerDefinition = { name, version: number, tools: [ask] }
  return (kit: ServerKit) => createServer({ ...definition, ...kit })
}

const call: RecordedCall = {
  tool: 'ask',
  arguments: { id: 7 },
  answers: { first: { text: 'one' }, second: { text: 'two' } },
}
const calls = { ask: call }

test('missing states are recorded as readable JSON, and continued by later runs', async () => {
  expect(await checkRecordedStates(version(), { folder, calls })).toEqual([
    { call: 'ask', isRecorded: true, states: [] },
  ])
  const file = await readFile(join(folder, 'ask.json'), 'utf8')
  expect(file).toContain('"message": "Second?"')
  expect(JSON.parse(file)).toMatchObject({
    server: { name: 'demo', version: '1' },
    states: [
      { pending: { method: 'tools/call', params: { name: 'ask', arguments: { id: 7 } } } },
      { sealed: { value: { steps: { save: [{ id: 7, first: 'one' }] } } } },
    ],
    result: { content: [{ type: 'text', text: 'one two end' }] },
  })
  expect(await checkRecordedStates(version({ version: '2' }), { folder, calls, record: 'none' })).toEqual([
    {
      call: 'ask',
      isRecorded: false,
      states: [
        { round: 1, askedKeys: [], changeDescription: undefined },
        { round: 2, askedKeys: [], changeDescription: undefined },
      ],
    },
  ])
  expect(await readFile(join(folder, 'ask.json'), 'utf8')).toBe(file)
})

test('states of long ago are opened as of their time', async () => {
  await checkRecordedStates(version(), { folder, calls })
  const path = join(folder, 'ask.json')
  const recording = JSON.parse(await readFile(path, 'utf8'))
  const long = Date.parse('2020-01-01T00:00:00Z')
  const old = { ...recording, recordedAt: new Date(long).toISOString() }
  for (const { sealed } of old.states) {
    sealed.claims.since = long
    sealed.value.began = long
  }
  await writeFile(path, JSON.stringify(old))
  const [check] = await checkRecordedStates(version(), { folder, calls, record: 'none' })
  expect(check?.states).toHaveLength(2)
})

test('a result that differs and a question that is new are reported, and not refused', async () => {
  await checkRecordedStates(version(), { folder, calls })
  const more = { ...call, answers: { ...call.answers, third: { text: 'three' } } }
  const [check] = await checkRecordedStates(version({ end: 'over', more: true }), { folder, calls: { ask: more } })
  const changed = 'result.content[0].text is "one two over" instead of "one two end"'
  expect(check?.states).toEqual([
    { round: 1, askedKeys: ['third'], changeDescription: changed },
    { round: 2, askedKeys: ['third'], changeDescription: changed },
  ])
})

test.each([
  [
    'a state that does not open',
    { name: 'renamed' },
    /ask, state 1: .*requestState.*audience|ask, state 1: .*requestState/,
  ],
  [
    'a question that was answered and is asked again',
    { message: 'Your first?' },
    /ask, state 2: it asks "first" again/,
  ],
  ['a question that has no answer', { more: true }, /ask, state 1: The server asks "third"/],
])('%s fails the check', async (_, change, message) => {
  await checkRecordedStates(version(), { folder, calls })
  const check = checkRecordedStates(version(change), { folder, calls })
  await expect(check).rejects.toMatchObject({ code: 'states_rejected', message: expect.stringMatching(message) })
})

test.each<[string, RecordedCall]>([
  ['another tool', { ...call, tool: 'nope' }],
  ['other arguments', { ...call, arguments: { id: 8 } }],
  ['a prompt', { prompt: 'ask', arguments: { id: '7' }, answers: {} }],
  ['a resource', { resource: 'do://it', answers: {} }],
])('a recording does not stand for %s', async (_, other) => {
  await checkRecordedStates(version(), { folder, calls })
  await expect(checkRecordedStates(version(), { folder, calls: { ask: other }, record: 'none' })).rejects.toMatchObject(
    { code: 'usage', message: expect.stringContaining('has the states of another call (the call.') },
  )
})

test('a misspelt record is an error, and records nothing', async () => {
  const check = checkRecordedStates(version(), Object({ folder, calls, record: 'None' }))
  await expect(check).rejects.toThrow(`record must be 'missing', 'all' or 'none', and is "None"`)
  expect(await readdir(folder)).toEqual([])
})

test('every call is recorded anew when that is asked for', async () => {
  await checkRecordedStates(version(), { folder, calls })
  await checkRecordedStates(version({ version: '2', name: 'renamed' }), { folder, calls, record: 'all' })
  const file = await readFile(join(folder, 'ask.json'), 'utf8')
  expect(JSON.parse(file).server).toEqual({ name: 'renamed', version: '2' })
})

test('what cannot be recorded or read is said, with what to do', async () => {
  await expect(checkRecordedStates(version(), { folder, calls, record: 'none' })).rejects.toThrow("record: 'missing'")
  await writeFile(join(folder, 'ask.json'), '{')
  await expect(checkRecordedStates(version(), { folder, calls })).rejects.toThrow("record it again with record: 'all'")
  await expect(checkRecordedStates(version(), { folder, calls: { '../up': call } })).rejects.toThrow('a file name')
  await expect(checkRecordedStates(version(), { folder, calls: { none: { answers: {} } } })).rejects.toThrow(
    'names a tool',
  )
  const deaf = () => createServer({ name: 'demo', version: '1', state: false })
  await expect(checkRecordedStates(deaf, { folder, calls: { other: call } })).rejects.toMatchObject({
    code: 'kit_unused',
  })
  expect(await readdir(folder)).toEqual(['ask.json'])
})
