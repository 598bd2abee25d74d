import { describe, expect, test } from 'vitest'
import { type Emulated, emulated } from '../testing/emulated.ts'

const version = 'api-version=7.1'
const patchType = 'application/json-patch+json'

describe('the emulator answers as the service does', () => {
  test.each([
    [
      'a stale revision',
      [{ op: 'test', path: '/rev', value: 6 }],
      412,
      'TestPatchOperationFailedException',
      'VS403351',
    ],
    [
      'an unknown field',
      [field('Custom.None', 'x')],
      400,
      'VssPropertyValidationException',
      'Cannot find field Custom.None',
    ],
    [
      'a missing required field',
      [field('System.State', 'Resolved')],
      400,
      'RuleValidationException',
      'field Resolution',
    ],
    ['a value outside the pick list', [field('System.State', 'Done')], 400, 'RuleValidationException', 'field State'],
    ['a read-only field', [field('System.Id', 1)], 400, 'RuleValidationException', 'field ID'],
    ['an unknown person', [field('System.AssignedTo', 'Nobody')], 400, 'RuleValidationException', 'Assigned To'],
    ['a link to nowhere', [link(1)], 404, 'WorkItemUnauthorizedAccessException', 'Work item 1 does not exist'],
    ['a link twice', [link(4301), link(4301)], 400, 'VssPropertyValidationException', 'already exists'],
  ])('%s: rejected, and nothing is changed', async (_, patch, status, typeKey, message) => {
    await using service = await emulated()
    const response = await service.call('PATCH', `wit/workitems/4522?${version}`, {
      body: patch,
      contentType: patchType,
    })
    expect(response.status).toBe(status)
    expect(await response.json()).toMatchObject({ typeKey, message: expect.stringContaining(message) })
    expect((await read(service, 4522)).rev).toBe(7)
  })

  test('a good patch makes a new revision, and both ends show a new link', async () => {
    await using service = await emulated()
    const patch = [
      { op: 'test', path: '/rev', value: 7 },
      field('System.AssignedTo', 'raisa@fabrikam.example'),
      link(4301),
    ]
    expect(
      (await service.call('PATCH', `wit/workitems/4522?${version}`, { body: patch, contentType: patchType })).status,
    ).toBe(200)
    const item = await read(service, 4522)
    expect(item.rev).toBe(8)
    expect(item.fields).toMatchObject({
      'System.Rev': 8,
      'System.AssignedTo': { displayName: 'Raisa Pokrovskaya' },
      'System.ChangedDate': '2026-07-28T12:00:00.000Z',
    })
    expect(item.relations).toMatchObject([{ rel: 'System.LinkTypes.Duplicate-Reverse' }])
    const original = await read(service, 4301)
    expect(original.rev).toBe(5)
    expect(original.relations).toMatchObject([
      { rel: 'System.LinkTypes.Duplicate-Forward', url: expect.stringMatching(/\/_apis\/wit\/workItems\/4522$/) },
    ])
  })

  test('a bug that becomes active again loses its resolution, as its rule says', async () => {
    await using service = await emulated()
    const patch = async (...body: readonly unknown[]) =>
      service.call('PATCH', `wit/workitems/4522?${version}`, { body, contentType: patchType })
    await patch(field('System.State', 'Resolved'), field('Microsoft.VSTS.Common.ResolvedReason', 'Fixed'))
    await patch(field('System.Tags', 'seen'))
    expect((await read(service, 4522)).fields).toMatchObject({ 'Microsoft.VSTS.Common.ResolvedReason': 'Fixed' })
    await patch(field('System.State', 'Active'))
    expect((await read(service, 4522)).fields).not.toHaveProperty(['Microsoft.VSTS.Common.ResolvedReason'])
    expect((await patch(field('System.State', 'Resolved'))).status).toBe(400)
  })

  test('a reset restores the work items', async () => {
    await using service = await emulated()
    await service.call('PATCH', `wit/workitems/4522?${version}`, { body: [link(4301)], contentType: patchType })
    expect((await service.call('POST', `emulator/reset?${version}`)).status).toBe(200)
    const [item, original] = [await read(service, 4522), await read(service, 4301)]
    expect([item.rev, item.relations, original.relations]).toEqual([7, undefined, undefined])
  })

  test.each([
    ['without a version', 'GET', 'wit/workitems/4522', 400],
    ['for an unknown work item', 'GET', `wit/workitems/1?${version}`, 404],
    ['for something that is no id', 'GET', `wit/workitems/x?${version}`, 400],
    ['for an unknown type', 'GET', `wit/workitemtypes/Epic/fields?${version}`, 404],
    ['for an unknown address', 'GET', `wit/none?${version}`, 404],
    ['with a query that cannot be read', 'POST', `wit/wiql?${version}`, 400],
    ['with a patch as plain JSON', 'PATCH', `wit/workitems/4522?${version}`, 415],
  ])('a request %s is rejected', async (_, method, path, status) => {
    await using service = await emulated()
    const response = await service.call(method, path, method === 'GET' ? {} : { body: { query: 'SELECT' } })
    expect(response.status).toBe(status)
    expect(await response.json()).toHaveProperty('typeKey')
  })
})

function field(name: string, value: unknown) {
  return { op: 'add', path: `/fields/${name}`, value }
}

function link(id: number) {
  const url = `https://dev.azure.com/fabrikam/_apis/wit/workItems/${id}`
  return { op: 'add', path: '/relations/-', value: { rel: 'System.LinkTypes.Duplicate-Reverse', url } }
}

async function read(service: Emulated, id: number) {
  const response = await service.call('GET', `wit/workitems/${id}?$expand=relations&${version}`)
  return (await response.json()) as { rev: number; fields: Record<string, unknown>; relations?: unknown[] }
}
