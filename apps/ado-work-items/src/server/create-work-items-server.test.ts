import { errorCodes } from '@x/schema'
import { compileJsonSchema } from '@x/schema/json-schema'
import { testClient } from '@x/testing'
import { describe, expect, test } from 'vitest'
import { basicAuthorization } from '../azure-devops/connection.ts'
import { createAzureDevOps } from '../azure-devops/create-azure-devops.ts'
import { emulated } from '../testing/emulated.ts'
import { testFleet } from '../testing/test-fleet.ts'
import { textOf } from '../walk-through/connect.ts'
import { createWorkItemsServer } from './create-work-items-server.ts'

const [state, resolution, duplicateOf] = ['System.State', 'Microsoft.VSTS.Common.ResolvedReason', 'Custom.DuplicateOf']
const uri = 'ado://fabrikam/Fabrikam%20Fiber/workitems'
const template = 'ado://{organization}/{project}/workitems/{id}'

/** Starts a server, and a client that cannot ask its user and that checks structured results. */
const connect = () => testFleet({ outputSchemaCompiler: compileJsonSchema })

describe('a client', () => {
  test('finds the tools, with what a host should know of them', async () => {
    await using fixture = await connect()
    const tools = await fixture.client.listTools()
    expect(tools.map(({ name, annotations }) => [name, annotations?.readOnlyHint])).toEqual([
      ['list_work_items', true],
      ['get_work_item', true],
      ['update_work_item', false],
      ['update_work_items', false],
    ])
    expect(tools.every((tool) => tool.outputSchema !== undefined && tool.icons?.length === 1)).toBe(true)
  })

  test('gets a work item as text, as data and as a link to its resource', async () => {
    await using fixture = await connect()
    const result = await fixture.client.callTool('get_work_item', { workItemId: 4522 })
    expect(textOf(result)[0]).toContain('Bug #4522 (Active): Discount code lost')
    expect(result.structuredContent).toMatchObject({ id: 4522, rev: 7, state: 'Active', resource: `${uri}/4522` })
    expect(result.content.at(-1)).toMatchObject({ type: 'resource_link', uri: `${uri}/4522` })
  })

  test('lists the work items that match', async () => {
    await using fixture = await connect()
    const result = await fixture.client.callTool('list_work_items', { type: 'Bug', state: 'Active', top: 2 })
    expect(result.structuredContent).toMatchObject({ workItems: [{ id: 4522 }, { id: 4517 }], more: true })
    expect(textOf(result).at(-1)).toContain('There are more')
  })

  test('reads a work item as a resource', async () => {
    await using fixture = await connect()
    const { contents } = await fixture.client.readResource(`${uri}/4544`)
    const [first] = contents
    const text = first !== undefined && 'text' in first ? first.text : ''
    expect(first?.mimeType).toBe('application/json')
    expect(JSON.parse(text)).toMatchObject({ id: 4544, type: 'Task', links: [{ workItemId: 4401 }] })
  })

  test.each([
    `${uri}/1`,
    `${uri}/x`,
    'ado://fabrikam/Other/workitems/4522',
    'ado://other/Fabrikam%20Fiber/workitems/4522',
  ])('receives an error for %s, which does not exist', async (missing) => {
    await using fixture = await connect()
    await expect(fixture.client.readResource(missing)).rejects.toMatchObject({
      rpc: { code: errorCodes.invalidParams },
    })
  })

  test.each([
    ['id', '45', ['4522', '4533', '4517', '4544', '4540']],
    ['id', '4522', ['4522']],
    ['id', 'x', []],
    ['organization', 'Fab', ['fabrikam']],
    ['project', 'x', []],
  ])('completes the variable %s of "%s"', async (name, value, expected) => {
    await using fixture = await connect()
    const { completion } = await fixture.client.complete({ type: 'ref/resource', uri: template }, { name, value })
    expect(completion.values).toEqual(expected)
  })

  test('gets a prompt with the work item in it, and completes its argument', async () => {
    await using fixture = await connect()
    const { messages } = await fixture.client.getPrompt('triage_work_item', { workItemId: '4533' })
    expect(messages).toMatchObject([
      { role: 'user', content: { type: 'resource', resource: { uri: `${uri}/4533` } } },
      { role: 'user', content: { type: 'text', text: expect.stringContaining('Bug #4533 (New)') } },
    ])
    const ref = { type: 'ref/prompt', name: 'triage_work_item' } as const
    const { completion } = await fixture.client.complete(ref, { name: 'workItemId', value: '42' })
    expect(completion.values).toEqual(['4299'])
  })

  test.each([
    [
      { [state]: 'Resolved' },
      `Bug #4522 was not changed: rule "Resolved needs a resolution" requires the field ${resolution} (Fixed, Won't Fix, Duplicate, By Design) when System.State is Resolved. Call again with that field.`,
    ],
    [
      { [state]: 'Resolved', [resolution]: 'Duplicate' },
      `Bug #4522 was not changed: rule "A duplicate names its original" requires the field ${duplicateOf} (Duplicate Of) when ${resolution} is Duplicate. Call again with that field.`,
    ],
  ])(
    'receives the field that a rule requires for %j and its accepted values, and nothing is changed',
    async (fields, text) => {
      await using fixture = await connect()
      const result = await fixture.client.callTool('update_work_item', { workItemId: 4522, fields })
      expect(result).toMatchObject({ isError: true, content: [{ type: 'text', text }] })
      expect(await fixture.revisions(4522)).toEqual([7])
    },
  )

  test.each([
    ['values', { [state]: 'Resolved', [resolution]: 'Fixed' }],
    ['a person by address', { 'System.AssignedTo': 'RAISA@fabrikam.example' }],
    ['a person by name', { 'System.AssignedTo': 'Raisa Pokrovskaya' }],
    ['a link', { [duplicateOf]: 4301 }],
    ['a number as text', { 'Microsoft.VSTS.Common.Priority': '3' }],
  ])('may say the same change twice, with %s: the second changes nothing', async (_, fields) => {
    await using fixture = await connect()
    const change = () => fixture.client.callTool('update_work_item', { workItemId: 4517, fields, rev: 3 })
    expect((await change()).structuredContent).toMatchObject({ rev: 4, changed: Object.keys(fields) })
    expect((await change()).structuredContent).toMatchObject({ rev: 4, changed: [] })
  })

  test.each([
    ['a value outside the pick list', { [state]: 'Done' }, 'Allowed: New, Active, Resolved'],
    ['an unknown field', { 'Custom.None': 1 }, 'TF51535: Cannot find field Custom.None'],
    ['a read-only field', { 'System.Id': 1 }, 'Error for field ID. Error code: ReadOnly'],
    ['an unknown person', { 'System.AssignedTo': 'Nobody' }, 'Error for field Assigned To'],
    ['an unknown original', { [duplicateOf]: 1 }, 'Work item 1 does not exist'],
    ['itself as the original', { [duplicateOf]: 4522 }, 'cannot be linked as Duplicate Of to itself'],
    ['a field name that is a path', { '../rev': 1 }, 'reference name'],
    ['an unknown work item', { [state]: 'New' }, 'Call list_work_items to see what there is', 1],
  ])('receives a remedy for %s', async (_, fields, advice, workItemId = 4522) => {
    await using fixture = await connect()
    const result = await fixture.client.callTool('update_work_item', { workItemId, fields })
    expect([result.isError, textOf(result).join()]).toEqual([true, expect.stringContaining(advice)])
    expect(await fixture.revisions(4522)).toEqual([7])
  })
})

test('every kind of request reports a wrong token, and never shows it', async () => {
  await using service = await emulated()
  const azureDevOps = createAzureDevOps({ ...service.connection, authorization: basicAuthorization('wr0ng-token') })
  await using client = testClient((kit) => createWorkItemsServer(azureDevOps, kit), { cache: false })
  const advice = expect.stringContaining('Set AZURE_DEVOPS_TOKEN')
  const result = await client.callTool('get_work_item', { workItemId: 4522 })
  expect([result.isError, textOf(result).join()]).toEqual([true, advice])
  for (const request of [
    () => client.readResource(`${uri}/4522`),
    () => client.getPrompt('triage_work_item', { workItemId: '4522' }),
    () => client.complete({ type: 'ref/resource', uri: template }, { name: 'id', value: '4' }),
  ])
    await expect(request()).rejects.toMatchObject({ rpc: { message: advice } })
  expect(JSON.stringify(result)).not.toContain('wr0ng-token')
})

test('the skills name tools that the server has', async () => {
  await using fixture = await connect()
  const { client } = fixture
  const names = (await client.listTools()).map(({ name }) => name)
  const skills = (await client.listResources()).filter((listed) => listed.uri.startsWith('skill://'))
  expect(skills.map(({ name }) => name)).toEqual(['resolve-in-bulk', 'triage-bug'])
  for (const { uri } of skills) {
    const { contents } = await client.readResource(uri)
    const text = contents.map((part) => ('text' in part ? part.text : '')).join('')
    const mentioned = [...text.matchAll(/`(\w+_work_items?)`/g)].map(([, name]) => name)
    expect(mentioned.length).toBeGreaterThan(1)
    for (const name of mentioned) expect(names).toContain(name)
  }
})
