import { fileURLToPath } from 'node:url'
import { createClient } from '@x/client'
import { createServer } from '@x/server'
import { skillsClient } from '@x/skills/client'
import { readSkills } from '@x/skills/node'
import { skills } from '@x/skills/server'

const files = await readSkills(fileURLToPath(new URL('./skills', import.meta.url)))
const server = createServer({ name: 'demo', version: '1.0.0', extensions: [skills({ files })] })

// A host lists the skills, and reads a file when a model needs it. The digest of each file is verified.
const client = createClient(server, { name: 'host', version: '1.0.0', extensions: [skillsClient()] })
for (const skill of await client.skills.list()) {
  console.log(`${skill.frontmatter.name}: ${skill.frontmatter.description}`)
  const { text } = await client.skills.read(skill)
  console.log(text)
}
