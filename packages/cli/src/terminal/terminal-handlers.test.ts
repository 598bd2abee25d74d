import { fakeTerminal, keys, type Move } from '@tooling/vitest/fake-terminal'
import type { Exchange } from '@x/exchange'
import type { InputRequest } from '@x/schema'
import { describe, expect, test } from 'vitest'
import { createClient } from '@x/client'
import { gateway } from '@x/gateway'
import { createServer, randomKey, sealedState, tool } from '@x/server'
import { z } from 'zod'
import { terminalHandlers } from './terminal-handlers.ts'

const { enter, down, leave } = keys

const nameOf = (message: string): InputRequest => ({
  method: 'elicitation/create',
  params: {
    mode: 'form',
    message,
    requestedSchema: { type: 'object', properties: { it: { type: 'string' } }, required: ['it'] },
  },
})
const page: InputRequest = {
  method: 'elicitation/create',
  params: { mode: 'url', message: 'Log in there.', url: 'https://example.com/a/login?x=1' },
}

/** A server that asks once, and then returns the answers. */
function asking(inputRequests: Readonly<Record<string, InputRequest>>): Exchange {
  return async ({ id, params }) => {
    const result =
      params !== undefined && 'inputResponses' in params
        ? { resultType: 'complete', content: [{ type: 'text', text: JSON.stringify(params['inputResponses']) }] }
        : { resultType: 'input_required', inputRequests }
    return JSON.parse(JSON.stringify({ jsonrpc: '2.0', id, result }))
  }
}

async function call(requests: Readonly<Record<string, InputRequest>>, ...moves: readonly Move[]) {
  const terminal = fakeTerminal(...moves)
  const opened: string[] = []
  const openPage = (url: string): void => void opened.push(url)
  const client = createClient(asking(requests), {
    name: 'host',
    version: '1.0.0',
    ...terminalHandlers({ input: terminal.input, output: terminal.output, openPage }),
  })
  const { content } = await client.callTool('ask')
  const [part] = content
  return { answers: JSON.parse(part?.type === 'text' ? part.text : ''), opened, terminal }
}

describe('The person at a terminal', () => {
  test('answers the questions of one round one after the other', async () => {
    const { answers, terminal } = await call(
      { first: nameOf('The first?'), second: nameOf('The second?') },
      ['It', `Ada${enter}`],
      ['It', `Bob${enter}`],
    )
    expect(answers).toEqual({
      first: { action: 'accept', content: { it: 'Ada' } },
      second: { action: 'accept', content: { it: 'Bob' } },
    })
    const shown = terminal.shown()
    expect(shown.indexOf('The second?')).toBeGreaterThan(shown.indexOf('Ada'))
  })

  test('sees the whole address of a page and its host, and has it opened', async () => {
    const { answers, opened, terminal } = await call({ page }, ['Open the page of example.com', enter])
    expect(answers).toEqual({ page: { action: 'accept' } })
    expect(opened).toEqual(['https://example.com/a/login?x=1'])
    expect(terminal.shown()).toContain('https://example.com/a/login?x=1')
  })

  test.each([
    ['declined', `${down}${enter}`, 'decline'],
    ['cancelled', `${down}${down}${enter}`, 'cancel'],
    ['left', leave, 'cancel'],
  ])('is not sent to a page that was %s', async (_, pressed, action) => {
    const { answers, opened } = await call({ page }, ['Open the page of', pressed])
    expect([answers, opened]).toEqual([{ page: { action } }, []])
  })

  test('is asked for forms only where no page can be opened', () => {
    expect(Object.keys(terminalHandlers())).toEqual(['elicit'])
  })
})

test('a question whose call is over does not hold up the next one', async () => {
  const terminal = fakeTerminal(['The second?', ''], ['It', `Bob${enter}`])
  const { elicit } = terminalHandlers({ input: terminal.input, output: terminal.output })
  const stop = new AbortController()
  const ask = (message: string, signal: AbortSignal) => {
    const { params } = nameOf(message)
    if (params === undefined || !('requestedSchema' in params)) throw new Error('no form')
    return elicit?.(params, { key: 'it', method: 'tools/call', target: 'ask', round: 1, signal, server: 'demo' })
  }
  const first = ask('The first?', stop.signal)
  const second = ask('The second?', new AbortController().signal)
  stop.abort(new Error('the call is over'))
  await expect(first).rejects.toThrow('the call is over')
  expect(await second).toEqual({ action: 'accept', content: { it: 'Bob' } })
  expect(terminal.shown()).toContain('ask of demo asks')
})

test('a question behind a gateway comes with the name of the server that asks it', async () => {
  const buy = tool('buy', {
    description: 'Asks',
    run: async (_, ctx) => (await ctx.elicit('it', { message: 'Which one?', schema: z.object({ it: z.string() }) })).it,
  })
  const serve = (name: string) =>
    createServer({ name, version: '1.0.0', state: sealedState({ keys: [randomKey()] }), tools: [buy] })
  const host = { name: 'host', version: '1.0.0' }
  await using server = gateway({ ...host, upstreams: { bank: serve('a'), shop: serve('b') } })
  const terminal = fakeTerminal(['It', `red${enter}`], ['It', `blue${enter}`])
  const client = createClient(server, { ...host, ...terminalHandlers(terminal) })
  await client.callTool('bank__buy')
  await client.callTool('shop__buy')
  const asked = terminal.shown().match(/\S+ of host 1\.0\.0 asks/g)
  expect(asked).toEqual(['bank__buy of host 1.0.0 asks', 'shop__buy of host 1.0.0 asks'])
})

test('without a terminal the call fails with an error that says so', async () => {
  const question = { message: 'Name?', requestedSchema: { type: 'object', properties: {} } } as const
  const context = { key: 'k', method: 'tools/call', target: 't', round: 1, signal: new AbortController().signal }
  const isTTY = process.stdin.isTTY
  process.stdin.isTTY = false
  try {
    await expect(terminalHandlers().elicit?.(question, context)).rejects.toThrow('standard input is not a terminal')
  } finally {
    process.stdin.isTTY = isTTY
  }
})
