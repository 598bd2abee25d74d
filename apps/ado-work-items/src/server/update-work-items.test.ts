import { tasksClient } from '@x/tasks/client'
import type { Answers } from '@x/testing'
import { describe, expect, test } from 'vitest'
import { AzureDevOpsError } from '../azure-devops/azure-devops-error.ts'
import { same, testFleet, type TestFleetOptions, type View } from '../testing/test-fleet.ts'
import { textOf } from '../walk-through/connect.ts'
import { bulkOutput } from './bulk/describe-bulk.ts'

const [state, resolution, duplicateOf] = ['System.State', 'Microsoft.VSTS.Common.ResolvedReason', 'Custom.DuplicateOf']
const resolved = { [state]: 'Resolved' }
const giftWrap = { text: 'gift wrap', fields: resolved }
const stories = [4601, 4602, 4603, 4604, 4605, 4606, 4607, 4608]
const bugs = [4609, 4610, 4611]
const resolve = (...ids: readonly number[]) => ({ ids: [...ids], fields: resolved })
const idsOf = (items: readonly { readonly id: number }[]): number[] => items.map(({ id }) => id)

describe.each([
  ['a client with tasks', (options?: TestFleetOptions) => testFleet({ ...options, extensions: [tasksClient()] })],
  ['a client without tasks', (options?: TestFleetOptions) => testFleet(options)],
] as const)('for %s', (_, start) => {
  test('everything that matches is changed, and what a rule requires is asked for once for all', async () => {
    await using fixture = await start({ views: [same, same, same], answers: { resolution: { resolution: 'Fixed' } } })
    const result = await fixture.client.callTool('update_work_items', giftWrap)
    expect(fixture.asked()).toEqual([
      ['resolution', 'Resolving Bug #4609, Bug #4610 and Bug #4611 requires a resolution. How were they resolved?'],
    ])
    const { changed, unchanged, skipped } = bulkOutput.parse(result.structuredContent)
    expect([idsOf(changed), unchanged, idsOf(skipped)]).toEqual([[...stories, ...bugs], [], [4612]])
    expect(await fixture.revisions(...stories, ...bugs, 4612)).toEqual([4, 3, 5, 3, 6, 3, 2, 4, 2, 3, 2, 1])
  })

  test('what cannot be changed is skipped, says why, and does not cost the others', async () => {
    await using fixture = await start()
    const result = await fixture.client.callTool('update_work_items', resolve(4612, 4601, 1))
    expect(textOf(result)).toEqual([
      '1 of 3 work items was changed: User Story #4601.',
      expect.stringMatching(
        /^Not changed: Task #4612: System\.State was rejected .* Allowed: New, Active, Closed\.\)$/,
      ),
      'Not changed: Work item #1: there is no such work item.',
    ])
    expect(result.isError ?? false).toBe(false)
    expect(await fixture.revisions(4601, 4612)).toEqual([4, 1])
  })

  test('where nothing matches nothing is done', async () => {
    await using fixture = await start()
    const result = await fixture.client.callTool('update_work_items', { ...giftWrap, text: 'nowhere' })
    expect(textOf(result)).toEqual(['No work item matches: nothing was changed.'])
    expect(result.structuredContent).toEqual({ changed: [], unchanged: [], skipped: [] })
  })

  test('saying it twice changes nothing more', async () => {
    await using fixture = await start()
    const { client } = fixture
    await client.callTool('update_work_items', resolve(4601, 4602))
    const again = await client.callTool('update_work_items', resolve(4601, 4602))
    expect(textOf(again)).toEqual([
      '0 of 2 work items were changed.',
      'These values were there already: User Story #4601, User Story #4602.',
    ])
    expect(await fixture.revisions(4601, 4602)).toEqual([4, 3])
  })

  test.each([
    ['decline', 'the user declined to answer "resolution".'],
    ['cancel', 'the user dismissed the question "resolution".'],
  ] as const)('a user who would %s keeps what is done', async (action, words) => {
    await using fixture = await start({ answers: { resolution: action } })
    const result = await fixture.client.callTool('update_work_items', resolve(4601, 4609, 4610))
    expect(result.isError ?? false).toBe(false)
    expect(textOf(result)).toEqual([
      '1 of 3 work items was changed: User Story #4601.',
      `Not changed: Bug #4609, Bug #4610: ${words}`,
    ])
    expect(await fixture.revisions(4601, 4609, 4610)).toEqual([4, 1, 2])
  })

  test('without a user to ask, the result names the arguments to add', async () => {
    await using fixture = await start()
    const result = await fixture.client.callTool('update_work_items', resolve(4601, 4609))
    expect(textOf(result)[1]).toBe(
      `Not changed: Bug #4609: rules require ${resolution} (Fixed, Won't Fix, Duplicate, By Design): call again for them, with that in fields.`,
    )
    const fields = { ...resolved, [resolution]: 'Fixed' }
    await fixture.client.callTool('update_work_items', { ids: [4609], fields })
    expect(await fixture.revisions(4601, 4609)).toEqual([4, 2])
  })

  test('an answer that brings another rule into force leads to its question, and one that cannot be meant is asked for again', async () => {
    await using fixture = await start({
      views: [same, same],
      answers: {
        resolution: { resolution: 'Duplicate' },
        duplicate_of: { duplicateOfId: 4610 },
        'duplicate_of/2': { duplicateOfId: 4301 },
      },
    })
    const result = await fixture.client.callTool('update_work_items', resolve(4609, 4610))
    const original = 'Since Bug #4609 and Bug #4610 are duplicates, which work item is the original of them all?'
    expect(fixture.asked().slice(1)).toEqual([
      ['duplicate_of', original],
      ['duplicate_of/2', `#4610 is one of those that are being changed. ${original}`],
    ])
    expect(textOf(result)).toEqual(['2 of 2 work items were changed: Bug #4609, Bug #4610.'])
    const { signal } = new AbortController()
    const item = await fixture.azureDevOps.getWorkItem(4609, signal)
    expect([item.rev, item.fields[duplicateOf], item.links.length]).toEqual([2, 4301, 1])
  })

  test.each([
    ['overwrite', { changedMeanwhile: 'overwrite' }, [4, 4], '2 of 2 work items were changed'],
    ['skip', { changedMeanwhile: 'skip' }, [4, 3], 'Not changed: User Story #4602: another user changed it'],
    ['decline', 'decline', [4, 3], 'Not changed: User Story #4602: another user changed it'],
  ] as const)(
    'asks about work items that another person changed meanwhile: %s',
    async (_title, answer, revisions, words) => {
      await using fixture = await start({ views: [touching(4602)], answers: { changed_meanwhile: answer } })
      const result = await fixture.client.callTool('update_work_items', resolve(4601, 4602))
      expect(fixture.asked()).toEqual([
        ['changed_meanwhile', 'Another user changed User Story #4602 in the meantime. Change them all the same?'],
      ])
      expect(textOf(result).join('\n')).toContain(words)
      expect(await fixture.revisions(4601, 4602)).toEqual(revisions)
    },
  )

  test('asks also about a change by another person during the question, and shows the answer of the user', async () => {
    const answers: Answers = {
      resolution: async () => {
        await fixture.touch(4610)
        return { resolution: 'Fixed' }
      },
      changed_meanwhile: { changedMeanwhile: 'overwrite' },
    }
    await using fixture = await start({ views: [same, same], answers })
    const result = await fixture.client.callTool('update_work_items', resolve(4609, 4610))
    expect(fixture.asked()[1]?.[1]).toContain('Another user changed Bug #4610')
    expect(textOf(result)).toEqual(['2 of 2 work items were changed: Bug #4609, Bug #4610.'])
    expect(await fixture.revisions(4609, 4610)).toEqual([2, 4])
  })

  test.each([
    ['neither ids nor filters', { fields: resolved }],
    ['both', { ids: [4601], state: 'Active', fields: resolved }],
    ['no ids', { ids: [], fields: resolved }],
  ])('%s is rejected', async (_title, args) => {
    await using fixture = await start()
    const called = await fixture.client
      .callTool('update_work_items', args)
      .then(textOf, (error: unknown) => [String(error)])
    expect(called.join()).toMatch(/either ids or at least one filter|ids/)
    expect(await fixture.revisions(4601)).toEqual([3])
  })
})

describe('a client without tasks', () => {
  test('receives progress for each work item', async () => {
    await using fixture = await testFleet()
    await fixture.client.callTool('update_work_items', resolve(4601, 4612), { onProgress: () => {} })
    const texts = fixture.client.observations.progress.map(({ message }) => message)
    // Under test every handler runs again at each of its awaits.
    expect([...new Set(texts)]).toEqual(['1 of 2: User Story #4601 is changed', '2 of 2: Task #4612 is skipped'])
  })

  test('may change fifty work items, and with more receives an error before anything is changed', async () => {
    await using fixture = await testFleet()
    const ids = Array.from({ length: 50 }, (_, index) => index + 1)
    const result = await fixture.client.callTool('update_work_items', resolve(...ids, 4601))
    expect([result.isError, textOf(result)]).toEqual([
      true,
      ['Nothing was changed: These are 51 work items, and 50 can be changed at once. Narrow the selection.'],
    ])
    expect(await fixture.revisions(4601)).toEqual([3])
  })

  test('gets fifty work items through, however long the reasons are', async () => {
    const answers = { resolution: { resolution: 'Duplicate' }, duplicate_of: { duplicateOfId: 4301 } }
    await using fixture = await testFleet({ views: [longRejections], answers })
    const ids = Array.from({ length: 50 }, (_, index) => 100_000 + index)
    const result = await fixture.client.callTool('update_work_items', resolve(...ids))
    expect(fixture.asked().map(([key]) => key)).toEqual(['resolution', 'duplicate_of'])
    const { skipped } = bulkOutput.parse(result.structuredContent)
    expect(skipped.filter(({ why }) => why.startsWith('No. No. '))).toHaveLength(50)
  })
})

/** Simulates another user who changes a work item right after the search. */
function touching(id: number): View {
  return (azureDevOps) => ({
    ...azureDevOps,
    getWorkItems: async (ids, signal) => {
      const found = await azureDevOps.getWorkItems(ids, signal)
      await azureDevOps.updateWorkItem(id, { fields: { 'System.Tags': 'seen' }, links: [] }, signal)
      return found
    },
  })
}

/** Simulates bugs whose rejection has a long message. */
const longRejections: View = (azureDevOps) => ({
  ...azureDevOps,
  getWorkItems: async (ids, signal) => {
    const bug = await azureDevOps.getWorkItem(4609, signal)
    return ids.map((id) => ({ ...bug, id }))
  },
  getWorkItem: async (id, signal) => ({ ...(await azureDevOps.getWorkItem(id > 99_999 ? 4609 : id, signal)), id }),
  updateWorkItem: () => Promise.reject(new AzureDevOpsError('invalid', 'No. '.repeat(1000))),
})
