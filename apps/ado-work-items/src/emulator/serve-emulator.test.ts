import { expect, test } from 'vitest'
import { type Emulated, emulated } from '../testing/emulated.ts'

const { signal } = new AbortController()
const [state, resolution] = ['System.State', 'Microsoft.VSTS.Common.ResolvedReason']
const version = 'api-version=7.1'

test('a bug that becomes active again loses its resolution, as its rule says', async () => {
  await using service = await emulated()
  const patch = async (fields: Record<string, string>) =>
    (await service.azureDevOps.updateWorkItem(4522, { fields, links: [] }, signal)).fields
  await patch({ [state]: 'Resolved', [resolution]: 'Fixed' })
  expect(await patch({ 'System.Tags': 'seen' })).toHaveProperty([resolution], 'Fixed')
  expect(await patch({ [state]: 'Active' })).not.toHaveProperty([resolution])
  await expect(patch({ [state]: 'Resolved' })).rejects.toMatchObject({ violations: [{ field: resolution }] })
})

test('a reset restores the work items', async () => {
  await using service = await emulated()
  const links = [{ type: 'System.LinkTypes.Duplicate-Reverse', url: service.azureDevOps.workItemUrl(4301) }]
  await service.azureDevOps.updateWorkItem(4522, { fields: {}, links }, signal)
  expect((await send(service, 'POST', `emulator/reset?${version}`)).status).toBe(200)
  const [item, original] = await Promise.all([4522, 4301].map((id) => service.azureDevOps.getWorkItem(id, signal)))
  expect([item?.rev, item?.links, original?.links]).toEqual([7, [], []])
})

test.each([
  ['without a version', 'GET', 'wit/workitems/4522', 400],
  ['for an unknown address', 'GET', `wit/none?${version}`, 404],
  ['with a query that cannot be read', 'POST', `wit/wiql?${version}`, 400],
  ['with a patch as plain JSON', 'PATCH', `wit/workitems/4522?${version}`, 415],
])('a request %s is rejected', async (_, method, path, status) => {
  await using service = await emulated()
  const response = await send(service, method, path)
  expect(response.status).toBe(status)
  expect(await response.json()).toHaveProperty('typeKey')
})

function send({ connection }: Emulated, method: string, path: string): Promise<Response> {
  const headers = { authorization: connection.authorization, 'content-type': 'application/json' }
  const body = method === 'GET' ? null : JSON.stringify({ query: 'SELECT' })
  return fetch(`${connection.baseUrl}/fabrikam/Fabrikam%20Fiber/_apis/${path}`, { method, headers, body })
}
