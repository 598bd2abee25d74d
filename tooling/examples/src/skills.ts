import { createServer, type McpServer, tool } from '@x/server'
import { watchSkills } from '@x/skills/node'
import { type SkillFile, skills, type SkillsApi } from '@x/skills/server'
import * as z from 'zod'

// #region server
/** Creates a server with one tool, and with skills that explain the tool to a model. */
export function createSkillsServer(files: readonly SkillFile[]): McpServer & { readonly skills: SkillsApi } {
  return createServer({
    name: 'work-items',
    version: '1.0.0',
    instructions: 'Before you triage a bug, read skill://triage-bug/SKILL.md',
    tools: [
      tool('set_severity', {
        description: 'Sets the severity of a bug',
        input: z.object({ id: z.number().int(), severity: z.number().int().min(1).max(3) }),
        run: ({ id, severity }) => `Bug ${id} has severity ${severity}`,
      }),
    ],
    extensions: [skills({ files })],
  })
}
// #endregion

// #region watch
/** Serves the current files of a folder, for a server in development. */
export function watchFolder(folder: string, server: ReturnType<typeof createSkillsServer>): () => void {
  return watchSkills(folder, (files) => server.skills.replace(files), { log: server.log })
}
// #endregion
