const drawing =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24" fill="none" stroke="#0b6cbd" stroke-width="2"><rect x="4" y="3" width="16" height="18" rx="2"/><path d="M8 8h8M8 12h8M8 16h5"/></svg>'

/** The icon of this server and its tools: a sheet with lines, as a data URL. */
export const icons: { src: string; mimeType: string; sizes: string[] }[] = [
  {
    src: `data:image/svg+xml;base64,${Buffer.from(drawing).toString('base64')}`,
    mimeType: 'image/svg+xml',
    sizes: ['any'],
  },
]
