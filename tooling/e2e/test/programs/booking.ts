import { serveStdio } from '@x/transport-stdio'
import { createBooking } from '../booking-server.ts'

serveStdio(createBooking(process.argv[2] ?? ''))
