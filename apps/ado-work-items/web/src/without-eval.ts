import { config } from 'zod'

// zod tries whether it may compile code, and the page's policy would write each try down as an attack. It asks when a
// schema is made, so this module is imported before all others.
config({ jitless: true })
