import { createClient } from '@x/client'
import { createServer } from '@x/server'
import { skillsClient } from '@x/skills/client'
import { skills } from '@x/skills/server'

const content = `---
name: triage-bug
description: Decides how urgent a bug report is. Use it when a user reports a fault.
---

# Triage a bug

1. Ask for the version, and for the steps that lead to the fault.
2. Choose a severity from 1 (loses data) to 3 (has a workaround).
`
// With a folder of skills: const files = await readSkills('./skills'), of '@x/skills/node'.
const files = [{ path: 'triage-bug/SKILL.md', content }]
const server = createServer({ name: 'demo', version: '1.0.0', extensions: [skills({ files })] })

// A host lists the skills, and reads a file when a model needs it. The digest of each file is verified.
const client = createClient(server, { name: 'host', version: '1.0.0', extensions: [skillsClient()] })
for (const skill of await client.skills.list()) {
  console.log(`${skill.frontmatter.name}: ${skill.frontmatter.description}`)
  const { text } = await client.skills.read(skill)
  console.log(text)
}
