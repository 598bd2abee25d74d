import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { memorySkillFiles, SkillsExtension } from '@modelcontextprotocol/server/ext/skills'
import { createClient } from '@x/client'
import { skillsClient } from '@x/skills/client'
import { connectHttp } from '@x/transport-http/client'
import { expect, test } from 'vitest'

test('our client lists, reads and verifies the skills of the official server', async () => {
  const text = '---\nname: greet\ndescription: Greets politely\nmetadata:\n  version: "1"\n---\n\n# Greet\n'
  const files = { 'greet/SKILL.md': text, 'greet/data/logo.bin': new Uint8Array([0, 1, 255]) }
  const catalog = await SkillsExtension.load(memorySkillFiles(files))
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'official', version: '2.0.0' })
    catalog.attach(server)
    return server
  })
  const connection = connectHttp('http://official.test/mcp', {
    fetch: (url, init) => handler.fetch(new Request(url, init)),
  })
  await using client = createClient(connection, { name: 'host', version: '1.0.0', extensions: [skillsClient()] })
  const [skill] = await client.skills.list()
  if (skill === undefined) throw new Error('the list is empty')
  expect(await client.skills.get(skill.uri)).toEqual(skill)
  expect(await client.skills.read(skill)).toMatchObject({ text })
  expect((await client.skills.read(skill, 'data/logo.bin')).bytes).toEqual(new Uint8Array([0, 1, 255]))
  const children = await client.skills.readDirectory('skill://greet')
  expect(children.map((child) => child.uri).toSorted()).toEqual(['skill://greet/SKILL.md', 'skill://greet/data'])
})
