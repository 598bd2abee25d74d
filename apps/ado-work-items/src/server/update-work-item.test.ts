import type { InputRequest } from '@x/schema'
import { type Answers, stopAtEveryStep } from '@x/testing'
import { describe, expect, test } from 'vitest'
import { type Emulated, emulated } from '../testing/emulated.ts'
import { same, type TestFleet, testFleet } from '../testing/test-fleet.ts'
import { textOf } from '../walk-through/connect.ts'
import { createWorkItemsServer } from './create-work-items-server.ts'

const [state, resolution, duplicateOf] = ['System.State', 'Microsoft.VSTS.Common.ResolvedReason', 'Custom.DuplicateOf']
const resolve = { workItemId: 4522, fields: { [state]: 'Resolved' } }
const duplicate = { resolution: { resolution: 'Duplicate' }, duplicate_of: { duplicateOfId: 4301 } }
const resolvedAsDuplicate =
  'Bug #4522 resolved as Duplicate of Bug #4301. State set to Resolved and duplicate link created. It is now at revision 8.'

/** Starts instances that share only their keys and the service, and a client whose rounds go to different instances. */
const fleet = (answers: Answers = {}) => testFleet({ views: [same, same, same], answers })

describe('a bug that is resolved', () => {
  test('takes two questions, on whichever instance, and is then a duplicate of the other', async () => {
    const requests: InputRequest[] = []
    await using fixture = await fleet({
      resolution: ({ request }) => (requests.push(request), duplicate.resolution),
      duplicate_of: ({ request }) => (requests.push(request), duplicate.duplicate_of),
    })
    const { client } = fixture
    const result = await client.callTool('update_work_item', resolve)
    expect(requests.map(({ params }) => params)).toEqual([
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
    ])
    expect(textOf(result)).toEqual([resolvedAsDuplicate])
    expect(result.structuredContent).toMatchObject({
      rev: 8,
      changed: [state, resolution, duplicateOf],
      links: [{ type: 'System.LinkTypes.Duplicate-Reverse', workItemId: 4301 }],
    })
    expect(client.observations.rounds.map(({ instance, status }) => [instance, status])).toEqual([
      [0, 'input_required'],
      [1, 'input_required'],
      [2, 'complete'],
    ])
  })

  test('takes one question when it is fixed', async () => {
    await using fixture = await fleet({ resolution: { resolution: 'Fixed' } })
    const result = await fixture.client.callTool('update_work_item', resolve)
    expect(fixture.asked()).toHaveLength(1)
    expect(textOf(result)).toEqual([
      `Bug #4522 was changed: ${state} is Resolved (was Active); ${resolution} is Fixed (was empty). It is now at revision 8.`,
    ])
  })

  test('takes none when everything is given, or the rules want nothing', async () => {
    await using fixture = await fleet()
    const fields = { [state]: 'Resolved', [resolution]: 'Duplicate', [duplicateOf]: 4301 }
    await fixture.client.callTool('update_work_item', { workItemId: 4522, fields })
    await fixture.client.callTool('update_work_item', { workItemId: 4533, fields: { [state]: 'Active' } })
    expect(fixture.asked()).toEqual([])
    expect(await fixture.revisions(4522, 4533)).toEqual([8, 2])
  })

  test('is changed the same, and once, after whichever step its instance stops', async () => {
    let service: Emulated | undefined
    const { signal } = new AbortController()
    const serviceNow = (): Emulated => service ?? expect.unreachable()
    const { stoppedSteps } = await stopAtEveryStep((kit) => createWorkItemsServer(serviceNow().azureDevOps, kit), {
      answers: duplicate,
      reset: async () => {
        await service?.[Symbol.asyncDispose]()
        service = await emulated()
      },
      call: async (client) => [
        textOf(await client.callTool('update_work_item', resolve)),
        (await serviceNow().azureDevOps.getWorkItem(4522, signal)).rev,
      ],
    })
    expect(stoppedSteps.map(({ recordedKeys }) => recordedKeys.at(-1))).toEqual(
      expect.arrayContaining(['read', 'save']),
    )
    await service?.[Symbol.asyncDispose]()
  })

  test.each<[string, Answers, string]>([
    ['decline', { resolution: 'decline' }, 'declined to answer "resolution"'],
    ['decline', { ...duplicate, duplicate_of: 'decline' }, 'declined to answer "duplicate_of"'],
    ['cancel', { resolution: 'cancel' }, 'dismissed the question "resolution"'],
  ])('is not changed when the user would %s: %j', async (_, answers, words) => {
    await using fixture = await fleet(answers)
    const result = await fixture.client.callTool('update_work_item', resolve)
    expect(result.isError ?? false).toBe(false)
    expect(textOf(result).join()).toContain(`Bug #4522 was not changed: the user ${words}`)
    expect(result.structuredContent).toMatchObject({ rev: 7, changed: [], state: 'Active' })
    expect(await fixture.revisions(4522)).toEqual([7])
  })

  test.each([
    ['does not exist', 999, 'There is no work item #999. Since this'],
    ['is the bug itself', 4522, 'Bug #4522 is the one that is being changed. Since this'],
  ])('is asked for once more when the original %s', async (_, wrong, message) => {
    const wrongly = { ...duplicate, duplicate_of: { duplicateOfId: wrong } }
    await using fixture = await fleet({ ...wrongly, 'duplicate_of/2': duplicate.duplicate_of })
    const result = await fixture.client.callTool('update_work_item', resolve)
    expect(fixture.asked()[2]).toEqual(['duplicate_of/2', expect.stringContaining(message)])
    expect(textOf(result).join()).toContain('resolved as Duplicate of Bug #4301')
  })

  test('is given up after three originals that are none', async () => {
    const wrong = { duplicateOfId: 999 }
    const wrongly = { duplicate_of: wrong, 'duplicate_of/2': wrong, 'duplicate_of/3': wrong }
    await using fixture = await fleet({ ...duplicate, ...wrongly })
    const result = await fixture.client.callTool('update_work_item', resolve)
    expect([result.isError, fixture.asked().length]).toEqual([true, 4])
    expect(textOf(result).join()).toContain('There is no work item #999. Find the right one')
    expect(await fixture.revisions(4522)).toEqual([7])
  })
})

describe('while a user is asked', () => {
  test('a change by another person is not overwritten', async () => {
    await using fixture: TestFleet = await fleet({
      resolution: async () => {
        await fixture.touch(4522)
        return { resolution: 'Fixed' }
      },
    })
    const result = await fixture.client.callTool('update_work_item', resolve)
    expect(result.isError).toBe(true)
    expect(textOf(result).join()).toContain('Another user changed the work item in the meantime')
    expect(await fixture.revisions(4522)).toEqual([8])
  })

  test('a change that is tied to an earlier revision asks no question', async () => {
    await using fixture = await fleet()
    const result = await fixture.client.callTool('update_work_item', { ...resolve, rev: 6 })
    expect([result.isError, fixture.asked().length]).toEqual([true, 0])
    expect(textOf(result).join()).toContain('it is at revision 7, not 6. Call get_work_item')
  })
})

test('a last round whose response was lost may be sent again: it returns the result, and nothing is written twice', async () => {
  await using fixture = await fleet()
  const { manualRounds } = fixture.client
  const first = await manualRounds.callTool('update_work_item', resolve)
  if (first.status === 'complete') throw new Error('it should ask')
  const second = await first.resume({ resolution: { action: 'accept', content: duplicate.resolution } })
  if (second.status === 'complete') throw new Error('it should ask again')
  expect(second.pendingCall.state?.length).toBeLessThan(2_000)
  for (let sent = 0; sent < 3; sent++) {
    const answers = { duplicate_of: { action: 'accept', content: duplicate.duplicate_of } } as const
    const round = await manualRounds.resume(second.pendingCall, answers)
    expect(round.status === 'complete' && textOf(round.result)).toEqual([resolvedAsDuplicate])
  }
  expect(await fixture.revisions(4522)).toEqual([8])
})
