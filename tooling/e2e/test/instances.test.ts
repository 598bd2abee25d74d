import { createClient, type Client, type Round } from '@x/client'
import { tool } from '@x/server'
import { expect, test } from 'vitest'
import { askOften, duplicateOf17, forms, keys, resolveTool, stateWith, textOf, type Work } from './asking.ts'
import { type Fleet, startFleet } from './fleet.ts'
import { overEveryTransport } from './over-every-transport.ts'
import { roundObserver } from './round-observer.ts'

const state = stateWith(keys.first)
const host = { name: 'e2e-client', version: '1.0.0' }
const loginOf = (login: string) => ({ action: 'accept', content: { login } }) as const

overEveryTransport('a fleet without sticky sessions', (serve) => {
  test('serves every round of a call at another instance, and does the work once [BAS-031]', async () => {
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

  test('continues a call whose last instance died before the answer arrived', async () => {
    const definition = { tools: [resolveTool()], state }
    await using fleet = await startFleet(serve, [definition, definition, definition])
    const killed: string[] = []
    const client = createClient(fleet.exchange, {
      ...host,
      elicit: async (question, context) => {
        // The instance that asked goes away while somebody thinks.
        await fleet.kill(killed.length)
        killed.push(context.key)
        return duplicateOf17.elicit(question, context)
      },
    })
    expect(textOf(await client.callTool('resolve', { id: 1 }))).toBe('#1 duplicates #17 (save 1)')
    expect(killed).toEqual(['resolution', 'original'])
    expect(fleet.served).toEqual([1, 1, 1])
  })

  test('does not do a recorded step again at another instance', async () => {
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

  test('changes its keys in two phases, instance by instance, and no call under way fails', async () => {
    const [old, young] = [keys.first, keys.second]
    // Nine rounds are one more than a server warns of.
    const log = (): void => {}
    const definitionWith = (...ring: string[]) => ({ tools: [askOften], state: stateWith(...ring), log })
    const both = definitionWith(old, young)
    const turned = definitionWith(young, old)
    const alone = definitionWith(young)
    await using fleet = await startFleet(
      serve,
      [old, old, old].map((key) => definitionWith(key)),
    )
    const calls = openCalls(fleet)
    await calls.begin(4)
    // First every instance learns to open with the new key, then each seals with it; then the old one is taken away.
    for (const definition of [both, turned, alone]) {
      for (const place of [0, 1, 2]) {
        const busy = calls.runBusily(5)
        await fleet.restart(place, definition)
        await calls.goOn()
        await busy
        await calls.begin(1)
      }
    }
    expect(await calls.finish()).toEqual(Array.from({ length: 13 }, () => answersOf(9)))
  })

  test('whose keys were changed in one phase refuses what the others sealed', async () => {
    const definitionWith = (key: string) => ({ tools: [askOften], state: stateWith(key), log: () => {} })
    await using fleet = await startFleet(serve, [definitionWith(keys.first), definitionWith(keys.first)])
    const calls = openCalls(fleet)
    await calls.begin(1)
    await fleet.restart(1, definitionWith(keys.second))
    await expect(calls.goOn()).rejects.toMatchObject({ rpc: { code: -32602 } })
  })
})

overEveryTransport('two versions of a handler that take turns', (serve) => {
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
    description: 'Asks for two logins, of which one is another',
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
    // The answer that a version in between had no use for is still there.
    ['before', 'after', 'before', 'before: at github_login, at google_login'],
    ['after', 'before', 'after', 'after: at github_login, at microsoft_login'],
  ])('%s, %s, %s: ask for what is missing alone, and keep what the other knows', async (...row) => {
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

/** Calls that take a round whenever they are told to, and calls that run to their end at once. */
function openCalls(fleet: Fleet) {
  const client: Client = createClient(fleet.exchange, {
    ...host,
    capabilities: { elicitation: {} },
    elicit: (_, { key }) => loginOf(answerTo(key)),
  })
  let open: Round<'tools/call'>[] = []
  const goOn = async (): Promise<void> => {
    open = await Promise.all(open.map(step))
  }
  return {
    goOn,
    begin: async (count: number): Promise<void> => {
      const begun = Array.from({ length: count }, () => client.manualRounds.callTool('often', { times }))
      open.push(...(await Promise.all(begun)))
    },
    runBusily: async (count: number): Promise<void> => {
      const results = Array.from({ length: count }, () => client.callTool('often', { times }))
      for (const result of await Promise.all(results)) expect(textOf(result)).toBe(answersOf(times))
    },
    finish: async (): Promise<readonly string[]> => {
      while (open.some(({ status }) => status === 'input_required')) await goOn()
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
