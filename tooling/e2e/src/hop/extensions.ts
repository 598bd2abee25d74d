import { apps, appTool, showsPages } from '@x/apps/server'
import type { ServerExtension } from '@x/exchange'
import { tool } from '@x/server'
import { skills } from '@x/skills/server'
import { tasks } from '@x/tasks/server'
import { z } from 'zod'

/** A skill of one file. */
export const skillText = '---\nname: charts\ndescription: Draws charts\n---\nUse the tool `chart`.\n'
export const pageHtml = '<!doctype html><title>Chart</title>'

export const pageTool = appTool('chart', {
  description: 'Draws a chart as a page if the host shows pages',
  page: { html: pageHtml },
  run: (_, ctx) => (showsPages(ctx) ? 'as a page' : 'as text'),
})

export const paintTask = tool('paint', {
  description: 'Paints, in a color that it asks for',
  task: 'allowed',
  run: async (_, ctx) => {
    const { name } = await ctx.elicit('color', { message: 'Which color?', schema: z.object({ name: z.string() }) })
    return `painted in ${name}`
  },
})

export function skillsAndPages(): readonly ServerExtension[] {
  return [skills({ files: [{ path: 'charts/SKILL.md', content: skillText }] }), apps()]
}

export function tasksInMemory(): ServerExtension {
  return tasks({ store: 'memory:' })
}
