import { createClient, type Client, type Round } from '@x/client'
import { tool } from '@x/server'
import { expect, test } from 'vitest'
import { askOften, duplicateOf17, forms, keys, resolveTool, stateWith, textOf, type Work } from './asking.ts'
import { type Fleet, startFleet } from './fleet.ts'
import { overEveryTransport, overMemory } from './over-every-transport.ts'
import { roundObserver } from './round-observer.ts'

const state = stateWith(keys.first)
const host = { name: 'e2e-client', version: '1.0.0' }
const loginOf = (login: string) => ({ action: 'accept', content: { login } }) as const

overEveryTransport('a fleet without sticky sessions', (serve) => {
  test('serves each round of a call at another instance and does the work once [BAS-031]', async () => {
    const works: Work[] = [1, 2, 3].map(() => ({ saved: [], runs: [] }))
    await using fleet = await startFleet(
      serve,
      works.map((work) => ({ tools: [resolveTool(work)], state })),
    )
    const client = createClient(fleet.exchange, { ...host, ...duplicateOf17 })
    expect(textOf(await client.callTool('resolve', { id: 4522 }))).toBe('#4522 duplicates #17 (save 1)')
    expect(fleet.served).toEqual([1, 1, 1])
    expect(works.map(({ saved }) => saved.length)).toEqual([0, 0, 1])
  })

  test('continues a call whose last instance was killed before the answer arrived', async () => {
    const definition = { tools: [resolveTool()], state }
    await using fleet = await startFleet(serve, [definition, definition, definition])
    const killed: string[] = []
    const client = createClient(fleet.exchange, {
      ...host,
      elicit: async (question, context) => {
        // The instance that asked is killed before the user answers.
        await fleet.kill(killed.length)
        killed.push(context.key)
        return duplicateOf17.elicit(question, context)
      },
    })
    expect(textOf(await client.callTool('resolve', { id: 1 }))).toBe('#1 duplicates #17 (save 1)')
    expect(killed).toEqual(['resolution', 'original'])
    expect(fleet.served).toEqual([1, 1, 1])
  })

  test('does not repeat a recorded step at another instance', async () => {
    const ran: string[] = []
    const orders = tool('orders', {
      description: 'Works, asks and works',
      run: async (_, ctx) => {
        const price = await ctx.step('price', () => ran.push('price'))
        await ctx.elicit('sure', { message: `Pay ${price}?`, schema: forms.sure })
        const paid = await ctx.step('pay', () => ran.push('pay'))
        return `${price} ${paid}`
      },
    })
    const definition = { tools: [orders], state }
    await using fleet = await startFleet(serve, [definition, definition])
    const client = createClient(fleet.exchange, {
      ...host,
      elicit: () => ({ action: 'accept', content: { sure: true } }),
    })
    expect(textOf(await client.callTool('orders'))).toBe('1 2')
    expect(ran).toEqual(['price', 'pay'])
    expect(fleet.served).toEqual([1, 1])
  })

  test('whose keys were replaced in one phase rejects the state that other instances sealed', async () => {
    const definitionWith = (key: string) => ({ tools: [askOften], state: stateWith(key), log: () => {} })
    await using fleet = await startFleet(serve, [definitionWith(keys.first), definitionWith(keys.first)])
    const calls = openCalls(fleet)
    await calls.begin(1)
    await fleet.restart(1, definitionWith(keys.second))
    await expect(calls.advance()).rejects.toMatchObject({ rpc: { code: -32602 } })
  })
})

overMemory('a fleet', (serve) => {
  test('rotates its keys in two phases, one instance at a time, and no open call fails', async () => {
    const [oldKey, newKey] = [keys.first, keys.second]
    // A server warns after eight rounds. These calls have nine.
    const log = (): void => {}
    const definitionWith = (...ring: string[]) => ({ tools: [askOften], state: stateWith(...ring), log })
    const both = definitionWith(oldKey, newKey)
    const reversed = definitionWith(newKey, oldKey)
    const newOnly = definitionWith(newKey)
    await using fleet = await startFleet(
      serve,
      [oldKey, oldKey, oldKey].map((key) => definitionWith(key)),
    )
    const calls = openCalls(fleet)
    await calls.begin(4)
    // First every instance accepts the new key. Then each seals with it. Then the previous key is removed.
    for (const definition of [both, reversed, newOnly]) {
      for (const index of [0, 1, 2]) {
        const running = calls.runConcurrently(5)
        await fleet.restart(index, definition)
        await calls.advance()
        await running
        await calls.begin(1)
      }
    }
    expect(await calls.finish()).toEqual(Array.from({ length: 13 }, () => answersOf(9)))
  })
})

overMemory('two versions of a handler behind one balancer', (serve) => {
  const login = (name: string) => ({ message: `Your name at ${name}?`, schema: forms.login })
  const before = tool('join', {
    description: 'Asks for two logins',
    run: async (_, ctx) => {
      const [github, google] = await Promise.all([
        ctx.elicit('github_login', login('GitHub')),
        ctx.elicit('google_login', login('Google')),
      ])
      return `before: ${github.login}, ${google.login}`
    },
  })
  const after = tool('join', {
    description: 'Asks for two logins, one of them new',
    run: async (_, ctx) => {
      const [github, microsoft] = await Promise.all([
        ctx.elicit('github_login', login('GitHub')),
        ctx.elicit('microsoft_login', login('Microsoft')),
      ])
      return `after: ${github.login}, ${microsoft.login}`
    },
  })
  const versions = new Map([
    ['before', { tools: [before], state }],
    ['after', { tools: [after], state }],
  ])

  test.each([
    ['before', 'after', 'after', 'after: at github_login, at microsoft_login'],
    ['after', 'before', 'before', 'before: at github_login, at google_login'],
    // An answer that the version in between does not use is kept.
    ['before', 'after', 'before', 'before: at github_login, at google_login'],
    ['after', 'before', 'after', 'after: at github_login, at microsoft_login'],
  ])('%s, %s, %s: each version asks only for missing answers and keeps the answers of the other', async (...row) => {
    const text = row[3]
    const definitions = row.slice(0, 3).flatMap((version) => versions.get(version) ?? [])
    await using fleet = await startFleet(serve, definitions)
    const asked: string[][] = []
    const client = createClient(fleet.exchange, {
      ...host,
      extensions: [roundObserver(({ requests }) => void asked.push(Object.keys(requests).toSorted()))],
      elicit: (_, { key }) => loginOf(`at ${key}`),
    })
    expect(textOf(await client.callTool('join'))).toBe(text)
    expect(asked.map((keys) => keys.length)).toEqual([2, 1, 0])
    expect(asked.flat().filter((key) => key === 'github_login')).toHaveLength(1)
  })
})

const times = 9
const answersOf = (count: number): string => Array.from({ length: count }, (_, at) => `a${at + 1}`).join(' ')

/** Opens calls that proceed one round at a time, and calls that run to completion. */
function openCalls(fleet: Fleet) {
  const client: Client = createClient(fleet.exchange, {
    ...host,
    capabilities: { elicitation: {} },
    elicit: (_, { key }) => loginOf(answerTo(key)),
  })
  let open: Round<'tools/call'>[] = []
  const advance = async (): Promise<void> => {
    open = await Promise.all(open.map(step))
  }
  return {
    advance,
    begin: async (count: number): Promise<void> => {
      const started = Array.from({ length: count }, () => client.manualRounds.callTool('often', { times }))
      open.push(...(await Promise.all(started)))
    },
    runConcurrently: async (count: number): Promise<void> => {
      const results = Array.from({ length: count }, () => client.callTool('often', { times }))
      for (const result of await Promise.all(results)) expect(textOf(result)).toBe(answersOf(times))
    },
    finish: async (): Promise<readonly string[]> => {
      while (open.some(({ status }) => status === 'input_required')) await advance()
      return open.map((round) => (round.status === 'complete' ? textOf(round.result) : 'open'))
    },
  }
}

async function step(round: Round<'tools/call'>): Promise<Round<'tools/call'>> {
  if (round.status === 'complete') return round
  const answers = Object.keys(round.requests).map((key) => [key, loginOf(answerTo(key))] as const)
  return round.resume(Object.fromEntries(answers))
}

function answerTo(key: string): string {
  return `a${key.replace('often/', '')}`
}
