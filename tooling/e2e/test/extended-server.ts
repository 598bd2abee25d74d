import { fileURLToPath } from 'node:url'
import { apps, appTool } from '@x/apps/server'
import { legacy } from '@x/legacy'
import { createServer, type McpServer } from '@x/server'
import { readSkills } from '@x/skills/node'
import { skills } from '@x/skills/server'

const folder = fileURLToPath(new URL('../../../packages/skills/examples/skills', import.meta.url))

/** The page that both tools share. */
export const page = { html: '<!doctype html><title>Board</title>', uri: 'ui://board/page.html' }

/** Creates a server with a page, a tool that only pages can call, and a skill, for hosts of all revisions. */
export async function createExtendedServer(): Promise<McpServer> {
  const board = appTool('board', {
    description: 'Shows the board',
    page: { html: page.html },
    run: () => 'The board has 3 cards.',
  })
  const refresh = appTool('refresh', {
    description: 'Reads the board again',
    page: board,
    visibility: ['app'],
    run: () => 'It has 3 cards.',
  })
  const extensions = [legacy(), apps(), skills({ files: await readSkills(folder) })]
  return createServer({ name: 'board', version: '1.0.0', tools: [board, refresh], extensions })
}
