import { type Client, createClient, type ElicitAnswer, type RoundView } from '@x/client'
import {
  type CallToolResult,
  type ElicitRequestFormParams,
  type Exchange,
  isJsonObject,
  type JsonObject,
} from '@x/schema'
import { sealedState } from '@x/server'
import { describe, expect, test } from 'vitest'
import { createAzureDevOps } from '../azure-devops/create-azure-devops.ts'
import { type Emulated, emulated } from '../testing/emulated.ts'
import { createWorkItemsServer } from './create-work-items-server.ts'

const [state, resolution, duplicateOf] = ['System.State', 'Microsoft.VSTS.Common.ResolvedReason', 'Custom.DuplicateOf']
const key = '8f1d2c3b4a5968778695a4b3c2d1e0f00f1e2d3c4b5a69788796a5b4c3d2e1f0'
const resolve = { workItemId: 4522, fields: { [state]: 'Resolved' } }

/** Answers in the order of the questions, and what was asked under which key. */
function person(...answers: readonly (JsonObject | 'decline' | 'cancel')[]) {
  const asked: [string, ElicitRequestFormParams][] = []
  const elicit = (question: ElicitRequestFormParams, context: { readonly key: string }): ElicitAnswer => {
    const answer = answers[asked.length]
    asked.push([context.key, question])
    if (answer === undefined) throw new Error(`nobody expected to be asked ${context.key}`)
    return typeof answer === 'string' ? { action: answer } : { action: 'accept', content: contentOf(answer) }
  }
  return { asked, elicit }
}

function contentOf(answer: JsonObject): NonNullable<ElicitAnswer['content']> {
  const values = Object.entries(answer).filter((entry): entry is [string, string | number] => entry[1] !== undefined)
  return Object.fromEntries(values)
}

describe('a bug that is resolved', () => {
  test('takes two questions, on whichever instance, and is then a duplicate of the other', async () => {
    await using fixture = await fleet(3)
    const { asked, elicit } = person({ resolution: 'Duplicate' }, { duplicateOfId: 4301 })
    const rounds: RoundView[] = []
    const result = await fixture.client.callTool('update_work_item', resolve, {
      elicit,
      rounds: { onRound: (round) => rounds.push(round) },
    })
    expect(asked).toEqual([
      [
        'resolution',
        {
          mode: 'form',
          message: 'Resolving Bug #4522 requires a resolution. How was this bug resolved?',
          requestedSchema: {
            type: 'object',
            properties: {
              resolution: {
                type: 'string',
                enum: ['Fixed', "Won't Fix", 'Duplicate', 'By Design'],
                description: 'Resolution type for this bug',
              },
            },
            required: ['resolution'],
          },
        },
      ],
      [
        'duplicate_of',
        {
          mode: 'form',
          message: 'Since this is a duplicate, which work item is the original?',
          requestedSchema: {
            type: 'object',
            properties: {
              duplicateOfId: {
                type: 'integer',
                minimum: 1,
                maximum: 2_147_483_647,
                description: 'Work item ID of the original bug',
              },
            },
            required: ['duplicateOfId'],
          },
        },
      ],
    ])
    expect(textOf(result)).toBe(
      'Bug #4522 resolved as Duplicate of Bug #4301. State set to Resolved and duplicate link created. It is now at revision 8.',
    )
    expect(result.structuredContent).toMatchObject({
      rev: 8,
      changed: [state, resolution, duplicateOf],
      links: [{ type: 'System.LinkTypes.Duplicate-Reverse', workItemId: 4301 }],
    })
    expect(rounds.map(({ round, status }) => [round, status])).toEqual([
      [1, 'input_required'],
      [2, 'input_required'],
      [3, 'complete'],
    ])
    expect(fixture.served).toEqual([0, 1, 2])
    expect(Math.max(...rounds.map(({ stateBytes }) => stateBytes))).toBeLessThan(2_000)
  })

  test('takes one question when it is fixed', async () => {
    await using fixture = await fleet(2)
    const { asked, elicit } = person({ resolution: 'Fixed' })
    const result = await fixture.client.callTool('update_work_item', resolve, { elicit })
    expect(asked.map(([name]) => name)).toEqual(['resolution'])
    expect(textOf(result)).toBe(
      `Bug #4522 was changed: ${state} is Resolved (was Active); ${resolution} is Fixed (was empty). It is now at revision 8.`,
    )
  })

  test('takes none when everything is given, or the rules want nothing', async () => {
    await using fixture = await fleet(1)
    const { asked, elicit } = person()
    const fields = { [state]: 'Resolved', [resolution]: 'Duplicate', [duplicateOf]: 4301 }
    await fixture.client.callTool('update_work_item', { workItemId: 4522, fields }, { elicit })
    await fixture.client.callTool('update_work_item', { workItemId: 4533, fields: { [state]: 'Active' } }, { elicit })
    expect(asked).toEqual([])
    expect(await fixture.revisions(4522, 4533)).toEqual([8, 2])
  })

  test.each([
    ['decline', 0, 'declined to answer "resolution"'],
    ['decline', 1, 'declined to answer "duplicate_of"'],
    ['cancel', 0, 'dismissed the question "resolution"'],
  ] as const)('stays as it is when the user would %s, after %i answers', async (action, given, words) => {
    await using fixture = await fleet(2)
    const { elicit } = person(...[{ resolution: 'Duplicate' }].slice(0, given), action)
    const result = await fixture.client.callTool('update_work_item', resolve, { elicit })
    expect(result.isError ?? false).toBe(false)
    expect(textOf(result)).toContain(`Bug #4522 was not changed: the user ${words}`)
    expect(result.structuredContent).toMatchObject({ rev: 7, changed: [], state: 'Active' })
    expect(await fixture.revisions(4522)).toEqual([7])
  })

  test.each([
    ['does not exist', 999, 'There is no work item #999. Since this'],
    ['is the bug itself', 4522, 'Bug #4522 is the one that is being changed. Since this'],
  ])('is asked for once more when the original %s', async (_, wrong, message) => {
    await using fixture = await fleet(2)
    const { asked, elicit } = person({ resolution: 'Duplicate' }, { duplicateOfId: wrong }, { duplicateOfId: 4301 })
    const result = await fixture.client.callTool('update_work_item', resolve, { elicit })
    expect(asked[2]?.[1].message).toContain(message)
    expect(textOf(result)).toContain('resolved as Duplicate of Bug #4301')
  })

  test('is given up after three originals that are none', async () => {
    await using fixture = await fleet(2)
    const wrong = { duplicateOfId: 999 }
    const { asked, elicit } = person({ resolution: 'Duplicate' }, wrong, wrong, wrong)
    const result = await fixture.client.callTool('update_work_item', resolve, { elicit })
    expect([result.isError, asked.length]).toEqual([true, 4])
    expect(textOf(result)).toContain('There is no work item #999. Find the right one')
    expect(await fixture.revisions(4522)).toEqual([7])
  })

  test('cannot be made a duplicate of itself, whoever says so', async () => {
    await using fixture = await fleet(1)
    const fields = { [state]: 'Resolved', [resolution]: 'Duplicate', [duplicateOf]: 4522 }
    const result = await fixture.client.callTool('update_work_item', { workItemId: 4522, fields })
    expect([result.isError, textOf(result)]).toEqual([
      true,
      expect.stringContaining('cannot be linked as Duplicate Of to itself'),
    ])
    expect(await fixture.revisions(4522)).toEqual([7])
  })
})

describe('while a user is asked', () => {
  test('somebody else changes the work item: nothing is written over that', async () => {
    await using fixture = await fleet(2)
    const elicit = async (): Promise<ElicitAnswer> => {
      await fixture.touch(4522)
      return { action: 'accept', content: { resolution: 'Fixed' } }
    }
    const result = await fixture.client.callTool('update_work_item', resolve, { elicit })
    expect(result.isError).toBe(true)
    expect(textOf(result)).toContain('Somebody else changed the work item in the meantime')
    expect(await fixture.revisions(4522)).toEqual([8])
  })

  test('nobody is asked about a change that is tied to an earlier revision', async () => {
    await using fixture = await fleet(1)
    const { asked, elicit } = person()
    const result = await fixture.client.callTool('update_work_item', { ...resolve, rev: 6 }, { elicit })
    expect([result.isError, asked.length]).toEqual([true, 0])
    expect(textOf(result)).toContain('it is at revision 7, not 6. Call get_work_item')
  })
})

test('a last round whose answer was lost may be sent again: it is told what was done, and nothing is written twice', async () => {
  await using fixture = await fleet(2)
  const first = await fixture.client.manual.callTool('update_work_item', resolve)
  if (first.status === 'complete') throw new Error('it should ask')
  const answer = { resolution: { action: 'accept', content: { resolution: 'Fixed' } } } as const
  const said = []
  for (let sent = 0; sent < 3; sent++) {
    const round = await fixture.client.manual.resume(first.pending, answer)
    said.push(round.status === 'complete' ? textOf(round.result) : round.status)
  }
  expect(new Set(said).size).toBe(1)
  expect(said[0]).toContain('It is now at revision 8.')
  expect(await fixture.revisions(4522)).toEqual([8])
})

test('the state of an instance with other keys is refused, so instances share theirs', async () => {
  await using fixture = await fleet(1)
  const first = await fixture.client.manual.callTool('update_work_item', resolve)
  if (first.status === 'complete') throw new Error('it should ask')
  const state = sealedState({ keys: [key.split('').reverse().join('')] })
  const other = createClient(createWorkItemsServer(fixture.emulated.azureDevOps, { state }), options)
  const answer = { resolution: { action: 'accept', content: { resolution: 'Fixed' } } } as const
  await expect(other.manual.resume(first.pending, answer)).rejects.toMatchObject({ rpc: { code: -32602 } })
})

interface Fixture {
  readonly client: Client
  readonly emulated: Emulated
  /** The instance that served each request, from 0. */
  readonly served: readonly number[]
  revisions(...ids: readonly number[]): Promise<number[]>
  /** Changes a work item as somebody else. */
  touch(id: number): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

const options = { name: 'test', version: '1.0.0', cache: false, capabilities: { elicitation: { form: {} } } } as const

/**
 * Several instances that share nothing but their keys and the service behind them; each request goes to the next one.
 */
async function fleet(size: number): Promise<Fixture> {
  const service = await emulated()
  const instances = Array.from({ length: size }, () =>
    createWorkItemsServer(createAzureDevOps(service.connection), { state: sealedState({ keys: [key] }) }),
  )
  const served: number[] = []
  const exchange: Exchange = (request, call) => {
    const index = served.length % size
    served.push(index)
    const instance = instances[index]
    if (instance === undefined) throw new Error('a fleet has at least one instance')
    return instance.exchange(request, call)
  }
  const { signal } = new AbortController()
  const revision = async (id: number) => (await service.azureDevOps.getWorkItem(id, signal)).rev
  return {
    client: createClient(exchange, options),
    emulated: service,
    served,
    revisions: (...ids) => Promise.all(ids.map(revision)),
    touch: async (id) => {
      await service.azureDevOps.updateWorkItem(id, { fields: { 'System.Tags': 'seen' }, links: [] }, signal)
    },
    [Symbol.asyncDispose]: service[Symbol.asyncDispose],
  }
}

function textOf(result: CallToolResult): string {
  return result.content.map((block) => (block.type === 'text' && isJsonObject(block) ? block.text : '')).join('')
}
