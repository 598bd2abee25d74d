/** What the home has beside the text of the README, as HTML in one line each. */
export interface HomeParts {
  readonly links: string
  readonly frames: string
  readonly serverBars: string
  readonly hostTable: string
}

const opening =
  /^# (?<title>.+)\n\n(?<sentence>[^.]+\.) (?<lead>[^\n]+)\n\n<!-- file: .+ -->\n(?<program>```js\n[\s\S]*?\n```)\n/
const diagram = /^```mermaid\n[\s\S]*?\n```\n/m

/**
 * Makes the home of the site from the README: the program with the frames of a run beside it, in place of the diagram,
 * and a table at the end of two sections.
 */
export function homePage(readme: string, { links, frames, serverBars, hostTable }: HomeParts): string {
  const { title, sentence, lead, program } = opening.exec(readme)?.groups ?? {}
  if (program === undefined || !diagram.test(readme))
    throw new Error(
      'The home cannot be made: README.md must begin with a title, a sentence and a program from a file, and have a diagram',
    )
  const intro = `<div class="home-intro">\n\n# ${title}\n\n${sentence}\n\n${links}\n\n</div>`
  const shown = `<div class="home-program">\n\n${lead}\n\n${program}\n\n</div>`
  const rest = readme.replace(opening, '').replace(diagram, '')
  const sections = atEndOf('Why not the official SDK?', serverBars, atEndOf('In your host', hostTable, rest))
  return `<main>\n<div class="home-top">\n\n${intro}\n\n${shown}\n\n${frames}\n\n</div>\n\n${sections}\n\n</main>\n`
}

function atEndOf(heading: string, html: string, text: string): string {
  const start = text.indexOf(`## ${heading}\n`)
  if (start === -1) throw new Error(`The home cannot be made: README.md has no section "${heading}"`)
  const next = text.indexOf('\n## ', start)
  const end = next === -1 ? text.length : next
  return `${text.slice(0, end)}\n${html}\n${text.slice(end)}`
}
