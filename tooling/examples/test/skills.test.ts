import { fileURLToPath } from 'node:url'
import { createClient } from '@x/client'
import { skillsClient } from '@x/skills/client'
import { readSkills } from '@x/skills/node'
import { expect, test } from 'vitest'
import { createSkillsServer } from '../src/skills.ts'
import { loadSkill } from '../src/skills-host.ts'

const folder = fileURLToPath(new URL('../../../packages/skills/examples/skills', import.meta.url))
const uri = 'skill://triage-bug/SKILL.md'

test('a host loads a skill that the user approves, with the name of its server', async () => {
  const client = createClient(createSkillsServer(await readSkills(folder)), {
    name: 'host',
    version: '1.0.0',
    extensions: [skillsClient()],
  })
  const load = (skillUri: string, isApproved: boolean) =>
    loadSkill(client, skillUri, { serverLabel: 'tracker', approve: () => Promise.resolve(isApproved) })
  expect(await load(uri, true)).toMatch(
    /^Skill skill:\/\/triage-bug\/SKILL\.md of the server "tracker":[\s\S]*# Triage a bug/,
  )
  expect(await load(uri, false)).toBe(`The user did not approve ${uri}.`)
  expect(await load('skill://other/SKILL.md', true)).toBe('The server does not serve skill://other/SKILL.md.')
})
