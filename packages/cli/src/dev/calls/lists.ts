import { messageOf } from '@x/core'
import { findHostProblems } from '@x/server'
import type { List, ServerLists } from '../events.ts'
import type { DevClient } from './call-kinds.ts'

const skillsIdentifier = 'io.modelcontextprotocol/skills'

/** Reads the lists that the server declares. One that fails does not keep the others back. */
export async function readLists(client: DevClient): Promise<ServerLists> {
  const { capabilities } = await client.discover()
  const { prompts, resources, extensions = {} } = capabilities
  const { skills } = client
  const hasSkills = skills !== undefined && Object.hasOwn(extensions, skillsIdentifier)
  const [toolList, promptList, resourceList, templateList, skillList] = await Promise.all([
    readDeclaredList(capabilities.tools !== undefined, () => client.listTools()),
    readDeclaredList(prompts !== undefined, () => client.listPrompts()),
    readDeclaredList(resources !== undefined, () => client.listResources()),
    readDeclaredList(resources !== undefined, () => client.listResourceTemplates()),
    readDeclaredList(hasSkills, async () =>
      ((await skills?.list()) ?? []).map(({ uri, frontmatter: { name, description } }) => ({ uri, name, description })),
    ),
  ])
  return {
    tools: toolList,
    prompts: promptList,
    resources: resourceList,
    templates: templateList,
    skills: skillList,
    warnings: findHostProblems(
      toolList.items.map(({ name, inputSchema }) => ({ name, inputSchema: { ...inputSchema } })),
    )
      .map(({ tool, message }) => ({ tool, message }))
      .concat(
        toolList.items
          .filter(({ description = '' }) => description.trim() === '')
          .map(({ name }) => ({
            tool: name,
            message: `The tool "${name}" has no description, so no model knows when to call it`,
          })),
      ),
  }
}

async function readDeclaredList<T>(isDeclared: boolean, read: () => Promise<readonly T[]>): Promise<List<T>> {
  if (!isDeclared) return { items: [], problem: undefined }
  try {
    return { items: await read(), problem: undefined }
  } catch (error) {
    return { items: [], problem: messageOf(error) }
  }
}

/** Of a server that does not say what it has. */
export function failedLists(error: unknown): ServerLists {
  const empty = { items: [], problem: undefined }
  const tools = { items: [], problem: messageOf(error) }
  return { tools, prompts: empty, resources: empty, templates: empty, skills: empty, warnings: [] }
}
