import { App } from '@modelcontextprotocol/ext-apps'

// The script of a page that a server shows, with the official package.

interface Element {
  textContent: string
  addEventListener(type: string, listener: () => void): void
}
declare const document: { getElementById(id: string): Element | null }
declare const location: { href: string }
declare const localStorage: unknown
declare const parent: { readonly document: unknown }

const app = new App({ name: 'weather', version: '1.0.0' })

function write(id: string, text: string): void {
  const element = document.getElementById(id)
  if (element !== null) element.textContent = text
}

function onClick(id: string, run: () => unknown): void {
  document.getElementById(id)?.addEventListener('click', () => void run())
}

const celsiusOf = (content: unknown): string =>
  typeof content === 'object' && content !== null && 'celsius' in content ? `${content.celsius} °C` : 'unknown'

app.ontoolinput = ({ arguments: args }) => write('city', String(args?.['city']))
app.ontoolresult = ({ structuredContent }) => write('celsius', celsiusOf(structuredContent))
app.onteardown = () => ({})
onClick('refresh', async () => {
  const { structuredContent } = await app.callServerTool({ name: 'refresh', arguments: {} })
  write('celsius', celsiusOf(structuredContent))
})
onClick('link', () => app.openLink({ url: 'https://example.com/oslo' }))
onClick('leave', () => {
  location.href = 'data:text/html,left'
})
onClick('escape', async () => {
  const attempts = {
    fetch: () => fetch('http://localhost:1/'),
    storage: () => localStorage,
    parent: () => parent.document,
  }
  const outcomes = Object.entries(attempts).map(async ([name, attempt]) => {
    const isBlocked = await Promise.resolve()
      .then(attempt)
      .then(
        () => false,
        () => true,
      )
    return `${name}: ${isBlocked ? 'blocked' : 'possible'}`
  })
  write('escaped', (await Promise.all(outcomes)).join(', '))
})
void app.connect()
