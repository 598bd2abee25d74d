import { expect, test } from 'vitest'
import { emulated } from '../testing/emulated.ts'
import { basicAuthorization } from './connection.ts'
import { createAzureDevOps } from './create-azure-devops.ts'

const { signal } = new AbortController()
const giftWrap = Array.from({ length: 12 }, (_, index) => 4601 + index)

test('a work item comes with its fields, and its people as text', async () => {
  await using service = await emulated()
  expect(await service.azureDevOps.getWorkItem(4544, signal)).toMatchObject({
    id: 4544,
    rev: 4,
    type: 'Task',
    state: 'Active',
    assignedTo: 'Johnnie McLeod <johnnie@fabrikam.example>',
    fields: { 'Microsoft.VSTS.Scheduling.RemainingWork': 6 },
    links: [{ type: 'System.LinkTypes.Hierarchy-Reverse', workItemId: 4401 }],
  })
})

test.each([
  ['all', {}, [4522, 4533, 4517, 4544, 4301, 4498, 4401, 4540, 4299, ...giftWrap]],
  ['by state and type, in any letters', { state: 'active', type: 'BUG' }, [4522, 4517, 4301]],
  ['by person', { assignedTo: 'Christie@fabrikam.example' }, [4498, 4299, 4607, 4608]],
  ['of the one who asks', { assignedTo: 'me' }, [4522, 4517, 4603, 4604]],
  ['by words of the title', { text: "o'brien" }, [4517]],
  ['by the first digits of the id', { idPrefix: '45' }, [4522, 4533, 4517, 4544, 4540]],
  ['that do not exist', { state: 'Done' }, []],
])('work items are found: %s', async (_, filters, ids) => {
  await using service = await emulated()
  const found = await service.azureDevOps.findWorkItems({ filters, top: 30 }, signal)
  expect(found.workItems.map((item) => item.id)).toEqual(ids)
  expect(found.more).toBe(false)
})

test('work items are read by their ids, and those that are not there are left out', async () => {
  await using service = await emulated()
  const items = await service.azureDevOps.getWorkItems([4533, 1, 4517], signal)
  expect(items.map(({ id, rev }) => [id, rev])).toEqual([
    [4533, 1],
    [4517, 3],
  ])
  expect(await service.azureDevOps.getWorkItems([], signal)).toEqual([])
})

test('a search says when there is more than was asked for', async () => {
  await using service = await emulated()
  const found = await service.azureDevOps.findWorkItems({ filters: {}, top: 20 }, signal)
  expect([found.workItems.length, found.more]).toEqual([20, true])
  expect((await service.azureDevOps.findWorkItems({ filters: {}, top: 21 }, signal)).more).toBe(false)
})

test('a type comes with its rules and its pick lists, by way of its process', async () => {
  await using service = await emulated()
  const type = await service.azureDevOps.workItemType('Bug')
  expect(type.rules.map((rule) => [rule.name, ...rule.requires, ...rule.empties])).toEqual([
    ['Resolved needs a resolution', 'Microsoft.VSTS.Common.ResolvedReason'],
    ['A duplicate names its original', 'Custom.DuplicateOf'],
    ['An active bug has no resolution', 'Microsoft.VSTS.Common.ResolvedReason', 'Custom.DuplicateOf'],
  ])
  expect(type.fields.get('System.State')?.allowedValues).toEqual(['New', 'Active', 'Resolved', 'Closed'])
})

test('a change is tied to the revision that it names, and its link is seen from both ends', async () => {
  await using service = await emulated()
  const { azureDevOps } = service
  const links = [{ type: 'System.LinkTypes.Duplicate-Reverse', url: azureDevOps.workItemUrl(4301) }]
  const change = { fields: { 'System.AssignedTo': 'raisa@fabrikam.example' }, links, rev: 7 }
  expect(await azureDevOps.updateWorkItem(4522, change, signal)).toMatchObject({
    rev: 8,
    assignedTo: 'Raisa Pokrovskaya <raisa@fabrikam.example>',
    fields: { 'System.Rev': 8, 'System.ChangedDate': '2026-07-28T12:00:00.000Z' },
    links: [{ type: 'System.LinkTypes.Duplicate-Reverse', workItemId: 4301 }],
  })
  expect(await azureDevOps.getWorkItem(4301, signal)).toMatchObject({
    rev: 5,
    links: [{ type: 'System.LinkTypes.Duplicate-Forward', workItemId: 4522 }],
  })
  await expect(azureDevOps.updateWorkItem(4522, change, signal)).rejects.toMatchObject({ code: 'conflict' })
})

test.each([
  ['the wrong token', { authorization: basicAuthorization('other') }, 'unauthorized'],
  ['an unknown project', { project: 'Other' }, 'not_found'],
])('with %s every call fails and says so', async (_, change, code) => {
  await using service = await emulated()
  const azureDevOps = createAzureDevOps({ ...service.connection, ...change })
  await expect(azureDevOps.getWorkItem(4522, signal)).rejects.toMatchObject({ code })
  await expect(azureDevOps.workItemType('Bug')).rejects.toMatchObject({ code })
})
