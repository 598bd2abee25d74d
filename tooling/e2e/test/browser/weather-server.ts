import { apps, appTool } from '@x/apps/server'
import { createServer, type McpServer } from '@x/server'
import { z } from 'zod'
import { bundleScript } from './site.ts'

const output = z.object({ celsius: z.number() })

/** Creates a server whose tool has a page with the official class App. */
export async function createWeatherServer(): Promise<McpServer> {
  const script = await bundleScript(new URL('app-page.ts', import.meta.url))
  const ids = ['refresh', 'link', 'leave', 'escape']
  const buttons = ids.map((id) => `<button id="${id}">${id}</button>`).join(' ')
  const weather = appTool('weather', {
    description: 'Shows the weather of a city',
    input: z.object({ city: z.string() }),
    output,
    page: {
      html: `<!doctype html><html lang="en"><meta charset="utf-8"><title>Weather</title>
        <style>body { font: 1rem sans-serif } #celsius { font-size: 2rem }</style>
        <body><h1 id="city"></h1><p id="celsius"></p><p>${buttons}</p><p id="escaped"></p>
        <script type="module">${script.replaceAll('</script', '<\\/script')}</script>`,
    },
    run: () => ({ celsius: 21 }),
  })
  const refresh = appTool('refresh', {
    description: 'Measures again',
    output,
    page: weather,
    visibility: ['app'],
    run: () => ({ celsius: 22 }),
  })
  return createServer({ name: 'weather', version: '1.0.0', tools: [weather, refresh], extensions: [apps()] })
}
