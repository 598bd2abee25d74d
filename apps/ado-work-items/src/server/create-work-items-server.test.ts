import type { Client } from '@x/client'
import { type CallToolResult, errorCodes } from '@x/schema'
import { compileJsonSchema } from '@x/schema/json-schema'
import { testClient, type TestClientOptions } from '@x/testing'
import { describe, expect, test } from 'vitest'
import { basicAuthorization } from '../azure-devops/connection.ts'
import { createAzureDevOps } from '../azure-devops/create-azure-devops.ts'
import { type Emulated, emulated } from '../testing/emulated.ts'
import { createWorkItemsServer } from './create-work-items-server.ts'

const [state, resolution, duplicateOf] = ['System.State', 'Microsoft.VSTS.Common.ResolvedReason', 'Custom.DuplicateOf']
const uri = 'ado://fabrikam/Fabrikam%20Fiber/workitems'
const template = 'ado://{organization}/{project}/workitems/{id}'
/** A client that cannot ask its user. */
const options = { cache: false, outputSchemaCompiler: compileJsonSchema, capabilities: {} } satisfies TestClientOptions

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
    expect(textOf(result)).toContain('Bug #4522 (Active): Discount code lost')
    expect(result.structuredContent).toMatchObject({ id: 4522, rev: 7, state: 'Active', resource: `${uri}/4522` })
    expect(result.content.at(-1)).toMatchObject({ type: 'resource_link', uri: `${uri}/4522` })
  })

  test('lists the work items that match', async () => {
    await using fixture = await connect()
    const result = await fixture.client.callTool('list_work_items', { type: 'Bug', state: 'Active', top: 2 })
    expect(result.structuredContent).toMatchObject({ workItems: [{ id: 4522 }, { id: 4517 }], more: true })
    expect(textOf(result)).toContain('There are more')
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

  test('receives the field that a rule requires and its accepted values, and nothing is changed', async () => {
    await using fixture = await connect()
    const result = await update(fixture, { workItemId: 4522, fields: { [state]: 'Resolved' } })
    expect(result).toMatchObject({
      isError: true,
      content: [
        {
          type: 'text',
          text: `Bug #4522 was not changed: rule "Resolved needs a resolution" requires the field ${resolution} (Fixed, Won't Fix, Duplicate, By Design) when System.State is Resolved. Call again with that field.`,
        },
      ],
    })
    expect((await fixture.emulated.azureDevOps.getWorkItem(4522, new AbortController().signal)).rev).toBe(7)
  })

  test('resolves a duplicate, which is then linked to its original', async () => {
    await using fixture = await connect()
    const fields = { [state]: 'Resolved', [resolution]: 'Duplicate' }
    const rejected = await update(fixture, { workItemId: 4522, fields })
    expect(textOf(rejected)).toContain(
      `requires the field ${duplicateOf} (Duplicate Of) when ${resolution} is Duplicate`,
    )

    const result = await update(fixture, { workItemId: 4522, fields: { ...fields, [duplicateOf]: 4301 } })
    expect(result.isError ?? false).toBe(false)
    expect(textOf(result)).toBe(
      'Bug #4522 resolved as Duplicate of Bug #4301. State set to Resolved and duplicate link created. It is now at revision 8.',
    )
    expect(result.structuredContent).toMatchObject({
      rev: 8,
      changed: [state, resolution, duplicateOf],
      links: [{ type: 'System.LinkTypes.Duplicate-Reverse', workItemId: 4301 }],
    })
  })

  test.each([
    ['values', { [state]: 'Resolved', [resolution]: 'Fixed' }],
    ['a person by address', { 'System.AssignedTo': 'RAISA@fabrikam.example' }],
    ['a person by name', { 'System.AssignedTo': 'Raisa Pokrovskaya' }],
    ['a link', { [duplicateOf]: 4301 }],
    ['a number as text', { 'Microsoft.VSTS.Common.Priority': '3' }],
  ])('may say the same change twice, with %s: the second changes nothing', async (_, fields) => {
    await using fixture = await connect()
    const change = { workItemId: 4517, fields, rev: 3 }
    expect((await update(fixture, change)).structuredContent).toMatchObject({ rev: 4, changed: Object.keys(fields) })
    expect((await update(fixture, change)).structuredContent).toMatchObject({ rev: 4, changed: [] })
  })

  test.each([
    ['a stale revision', { workItemId: 4522, fields: { [state]: 'New' }, rev: 6 }, 'Call get_work_item to see'],
    [
      'a value outside the pick list',
      { workItemId: 4522, fields: { [state]: 'Done' } },
      'Allowed: New, Active, Resolved',
    ],
    ['an unknown field', { workItemId: 4522, fields: { 'Custom.None': 1 } }, 'TF51535: Cannot find field Custom.None'],
    [
      'an unknown work item',
      { workItemId: 1, fields: { [state]: 'New' } },
      'Call list_work_items to see what there is',
    ],
    ['an unknown original', { workItemId: 4522, fields: { [duplicateOf]: 1 } }, 'Work item 1 does not exist'],
    ['a field name that is a path', { workItemId: 4522, fields: { '../rev': 1 } }, 'reference name'],
  ])('receives a remedy for %s', async (_, change, advice) => {
    await using fixture = await connect()
    const result = await update(fixture, change)
    expect(result.isError).toBe(true)
    expect(textOf(result)).toContain(advice)
  })
})

test('every kind of request reports a wrong token, and never shows it', async () => {
  await using service = await emulated()
  const azureDevOps = createAzureDevOps({ ...service.connection, authorization: basicAuthorization('wr0ng-token') })
  await using client = testClient((kit) => createWorkItemsServer(azureDevOps, kit), options)
  const advice = expect.stringContaining('Set AZURE_DEVOPS_TOKEN')
  const result = await client.callTool('get_work_item', { workItemId: 4522 })
  expect([result.isError, textOf(result)]).toEqual([true, advice])
  await expect(client.readResource(`${uri}/4522`)).rejects.toMatchObject({ rpc: { message: advice } })
  await expect(client.getPrompt('triage_work_item', { workItemId: '4522' })).rejects.toMatchObject({
    rpc: { message: advice },
  })
  await expect(
    client.complete({ type: 'ref/resource', uri: template }, { name: 'id', value: '4' }),
  ).rejects.toMatchObject({ rpc: { message: advice } })
  expect(textOf(result)).not.toContain('wr0ng-token')
})

interface Fixture {
  readonly client: Client
  readonly emulated: Emulated
  [Symbol.asyncDispose](): Promise<void>
}

async function connect(): Promise<Fixture> {
  const service = await emulated()
  const client = testClient((kit) => createWorkItemsServer(service.azureDevOps, kit), options)
  return {
    client,
    emulated: service,
    [Symbol.asyncDispose]: async () => {
      await client.close()
      await service[Symbol.asyncDispose]()
    },
  }
}

interface Change {
  readonly workItemId: number
  readonly fields: Readonly<Record<string, string | number>>
  readonly rev?: number
}

function update({ client }: Fixture, change: Change): Promise<CallToolResult> {
  return client.callTool('update_work_item', { ...change })
}

function textOf(result: CallToolResult): string {
  return result.content.map((block) => (block.type === 'text' ? block.text : '')).join('')
}

test('the skills name tools that the server has', async () => {
  await using service = await emulated()
  await using client = testClient((kit) => createWorkItemsServer(service.azureDevOps, kit), options)
  const names = (await client.listTools()).map(({ name }) => name)
  const listed = await client.listResources()
  const skills = listed.filter(({ uri }) => uri.startsWith('skill://'))
  expect(skills.map(({ name }) => name)).toEqual(['resolve-in-bulk', 'triage-bug'])
  for (const { uri } of skills) {
    const { contents } = await client.readResource(uri)
    const text = contents.map((part) => ('text' in part ? part.text : '')).join('')
    const mentioned = [...text.matchAll(/`(\w+_work_items?)`/g)].map(([, name]) => name)
    expect(mentioned.length).toBeGreaterThan(1)
    for (const name of mentioned) expect(names).toContain(name)
  }
})
