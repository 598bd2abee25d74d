import { stripVTControlCharacters } from 'node:util'
import { sealedState } from '@x/server'
import { serveHttp } from '@x/transport-http/node'
import { expect, test } from 'vitest'
import { createWorkItemsServer } from '../server/create-work-items-server.ts'
import { emulated } from '../testing/emulated.ts'
import { fakeTerminal, keys, type Move } from '@tooling/vitest/fake-terminal'
import { selectPerson, type TurnsContext, takeTurns } from './take-turns.ts'
import { writtenAnswers } from './written-answers.ts'

const { enter, down, leave } = keys
const options = { once: true, port: 0, instances: 1, auth: false, dpop: false, stdio: false, help: false }

test('a person at a terminal chooses a bug, is asked what the rules want, and sees what came of it', async () => {
  await using fixture = await served(
    ['which bug is resolved?', down + enter],
    ['How was this bug resolved?', down + down + enter],
    ['which work item is the original?', `4301${enter}`],
  )
  expect(await takeTurns(selectPerson({ ...options, ask: true }, fixture.context), fixture, fixture.context)).toBe(true)
  expect(fixture.terminal.left()).toEqual([])
  expect(fixture.printed()).toMatch(/^│ {2}round 1: instance \? asks, and leaves \d+ bytes of state/m)
  expect(fixture.printed()).toContain('Bug #4533 resolved as Duplicate of Bug #4301.')
})

test('while the server runs, the user may take another turn', async () => {
  await using fixture = await served(
    ['which bug is resolved?', enter],
    ['How was this bug resolved?', enter],
    ['which bug is resolved?', leave],
    ['Leave this question?', leave],
  )
  expect(await takeTurns(selectPerson({ ...options, once: false }, fixture.context), fixture, fixture.context)).toBe(
    true,
  )
  expect(fixture.terminal.left()).toEqual([])
  expect(fixture.printed().match(/was changed|resolved as/g)).toHaveLength(1)
  expect(fixture.printed()).toContain('Still serving on http')
})

test('who declines sees that nothing was changed', async () => {
  await using fixture = await served(
    ['which bug is resolved?', enter],
    ['How was this bug resolved?', leave],
    ['Leave this question?', down + enter],
  )
  await takeTurns(selectPerson({ ...options, ask: true }, fixture.context), fixture, fixture.context)
  expect(fixture.printed()).toContain('was not changed: the user declined to answer "resolution"')
})

test('a stop ends a turn in the middle of a question', async () => {
  await using fixture = await served(
    ['which bug is resolved?', enter],
    ['How was this bug resolved?', () => fixture.terminal.stop.abort(new Error('stopped'))],
  )
  const turns = takeTurns(selectPerson({ ...options, ask: true }, fixture.context), fixture, fixture.context)
  await expect(turns).rejects.toThrow('stopped')
})

test.each([
  [{ work_item: { workItemId: 4533 } }, 'has no answer to "resolution" (Resolving Bug #4533 requires'],
  [{ work_item: { workItemId: 1 } }, 'should have a "workItemId" of an open bug, one of 4522, 4533, 4517, 4301'],
  [{ work_item: { id: 4533 } }, 'should have a "workItemId" of an open bug'],
  [
    { work_item: { workItemId: 4533 }, resolution: { resolution: 'Fixed' }, duplicate_of: null },
    'answers "duplicate_of", which was not asked; asked was "work_item", "resolution"',
  ],
  [{ work_item: { workItemId: 4533 }, resolution: { resolution: 'fixed' } }, 'the answer to "resolution" is not valid'],
])('written answers %j are rejected with the reason', async (answers, problem) => {
  await using fixture = await served()
  const turns = { person: writtenAnswers(JSON.stringify(answers), 'a.json'), inTerminal: false, again: false }
  expect(await takeTurns(turns, fixture, fixture.context)).toBe(false)
  expect(fixture.printed()).toContain(problem)
})

test.each([
  ['a terminal', {}, { once: false }, {}, true],
  ['a terminal, when all ends at once', {}, { once: true }, {}, false],
  ['a terminal, when asked to', {}, { once: true, ask: true }, {}, true],
  ['a terminal, when asked not to', {}, { once: false, ask: false }, {}, false],
  ['no terminal', { terminal: undefined }, { once: false }, {}, false],
  ['a terminal, with a real organization', {}, { once: false }, real(), false],
])('in %s %j with %j, the program asks its user or does not', async (_, context, how, environment, isAsked) => {
  const terminal = fakeTerminal()
  const full = { environment, terminal, stop: terminal.stop, print: () => {}, ...context }
  expect(selectPerson({ ...options, ...how }, full) !== undefined).toBe(isAsked)
})

test.each([
  [{ ask: true }, {}, '--ask needs a terminal, and there is none: give --answers'],
  [{ ask: true }, real(), 'they work with the emulator only: unset AZURE_DEVOPS_ORG'],
  [{ answers: 'a.json' }, real(), 'they work with the emulator only: unset AZURE_DEVOPS_ORG'],
])('%j is rejected where it cannot be', (how, environment, message) => {
  const context = { environment, terminal: undefined, stop: new AbortController(), print: () => {} }
  expect(() => selectPerson({ ...options, ...how }, context)).toThrow(message)
})

function real(): NodeJS.ProcessEnv {
  return { AZURE_DEVOPS_ORG: 'contoso', AZURE_DEVOPS_PROJECT: 'Real', AZURE_DEVOPS_TOKEN: 'token' }
}

/** Starts an instance over HTTP, and a user at a terminal who makes the given moves. */
async function served(...moves: readonly Move[]) {
  const service = await emulated()
  const state = sealedState({ keys: ['8f1d2c3b4a5968778695a4b3c2d1e0f00f1e2d3c4b5a69788796a5b4c3d2e1f0'] })
  const instance = await serveHttp(createWorkItemsServer(service.azureDevOps, { state }))
  const terminal = fakeTerminal(...moves)
  const lines: string[] = []
  const context: TurnsContext = {
    environment: {},
    terminal,
    stop: terminal.stop,
    print: (text) => void lines.push(text),
  }
  return {
    url: `http://127.0.0.1:${instance.port}/mcp`,
    terminal,
    context,
    // `picocolors` colours the output on CI.
    printed: () => stripVTControlCharacters(lines.join('\n')),
    [Symbol.asyncDispose]: async () => {
      await instance.close()
      await service[Symbol.asyncDispose]()
    },
  }
}
