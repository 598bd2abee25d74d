import { existsSync, readFileSync } from 'node:fs'
import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import { fileURLToPath } from 'node:url'
import { type JsonObject, type JsonValue, messageOf } from '@x/core'
import { ApiError } from './read-body.ts'

/**
 * A part of the page that your program adds, above the calls. The program gives data, the page passes it to the script,
 * and the script sends commands back.
 *
 * @example
 * ```ts
 * const lanes: Panel = {
 *   name: 'lanes',
 *   title: 'Instances',
 *   script: new URL('../dist-web/panel.js', import.meta.url),
 *   style: new URL('../dist-web/panel.css', import.meta.url),
 *   async *data(signal) {
 *     for (;;) yield await nextSnapshot(signal)
 *   },
 *   run: (command) => runCommand(command),
 * }
 * ```
 */
export interface Panel {
  /** Name under which the script declares itself: lower-case letters, digits and hyphens. */
  readonly name: string
  /** Heading. */
  readonly title: string
  /**
   * One JavaScript module in a file, which imports nothing. It declares the panel with the function of
   * `@x/cli/web/panel.ts`, which draws it with Preact.
   */
  readonly script: URL
  /** A file of CSS. The page's variables, cards and buttons are there already. */
  readonly style?: URL
  /**
   * Gives the data of one page, until the signal aborts. A page gets each value whole; while it reads slowly, the next
   * one is not asked for. A page that connects again starts anew.
   */
  data?(signal: AbortSignal): AsyncIterable<JsonValue>
  /** Runs a command of the script, and returns its result. The page shows the message of what it throws. */
  run?(command: JsonObject): Promise<JsonObject | undefined>
}

/** Throws an `Error` if the file of a script or style is not there. */
export function addPanels(html: string, panels: readonly Panel[]): string {
  const parts = panels.map(({ script, style }) => {
    const css = style === undefined ? '' : `<style>${readPart(style).replaceAll('</style', '<\\/style')}</style>`
    return `${css}<script type="module">${readPart(script).replaceAll('</script', '<\\/script')}</script>`
  })
  // Modules run in the order of the document, so the panels' elements are defined before the page uses them.
  const start = html.indexOf('<script')
  return html.slice(0, start) + parts.join('') + html.slice(start)
}

function readPart(path: URL): string {
  if (!existsSync(path)) throw new Error(`A panel names ${fileURLToPath(path)}, which does not exist: build it first`)
  return readFileSync(path, 'utf8')
}

/** Sends the data of all panels, until the page leaves. */
export function streamPanels(panels: readonly Panel[], response: ServerResponse): void {
  const controller = new AbortController()
  response.once('close', () => controller.abort())
  for (const panel of panels)
    streamPanel(panel, response, controller.signal).catch((error: unknown) => {
      if (!controller.signal.aborted) writeEvent(response, panel.name, { problem: messageOf(error) })
    })
}

async function streamPanel({ name, data }: Panel, response: ServerResponse, signal: AbortSignal): Promise<void> {
  if (data === undefined) return
  for await (const value of data(signal)) {
    if (signal.aborted) return
    writeEvent(response, name, { value })
    if (response.writableNeedDrain) await once(response, 'drain', { signal })
  }
}

function writeEvent(response: ServerResponse, name: string, content: JsonObject): void {
  response.write(`data: ${JSON.stringify({ type: 'panel', name, ...content })}\n\n`)
}

export async function runPanel(panels: readonly Panel[], name: string, command: JsonObject): Promise<JsonObject> {
  const panel = panels.find((one) => one.name === name)
  if (panel?.run === undefined) throw new ApiError(404, `The panel ${name} has no commands`)
  return (await panel.run(command)) ?? {}
}
