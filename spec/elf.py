"""Reads what the compiler made of static initialisers: the symbols of a 64-bit little-endian relocatable ELF file.

`initial_values` gives, for each defined data symbol, either its bytes as a number or what it will point to.
"""
import struct


class ElfError(Exception):
    pass


def sections(data):
    if data[:6] != b'\x7fELF\x02\x01':
        raise ElfError('no 64-bit little-endian ELF object')
    start, = struct.unpack_from('<Q', data, 40)
    size, count = struct.unpack_from('<HH', data, 58)
    fields = ('name', 'type', 'flags', 'address', 'offset', 'size', 'link', 'info', 'align', 'entry')
    return [dict(zip(fields, struct.unpack_from('<IIQQQQIIQQ', data, start + i * size))) for i in range(count)]


def text_at(data, offset):
    return data[offset:data.index(b'\0', offset)].decode()


def initial_values(data):
    """{symbol: (number, None)} or {symbol: (addend, name of the symbol it refers to)}."""
    headers = sections(data)
    table = next(h for h in headers if h['type'] == 2)  # SHT_SYMTAB
    strings = headers[table['link']]['offset']
    symbols = []
    for at in range(table['offset'], table['offset'] + table['size'], 24):
        name, info, _, section, value, size = struct.unpack_from('<IBBHQQ', data, at)
        symbols.append((text_at(data, strings + name), section, value, size))
    refers = {}
    for header in headers:
        if header['type'] == 4:  # SHT_RELA
            for at in range(header['offset'], header['offset'] + header['size'], 24):
                offset, info, addend = struct.unpack_from('<QQq', data, at)
                refers[header['info'], offset] = (addend, symbols[info >> 32][0])
    values = {}
    for name, section, value, size in symbols:
        if not name or size not in (4, 8) or not 0 < section < len(headers):
            continue
        if (section, value) in refers:
            values[name] = refers[section, value]
        elif headers[section]['type'] == 8:  # SHT_NOBITS: zeros
            values[name] = (0, None)
        else:
            raw = data[headers[section]['offset'] + value:][:size]
            values[name] = (int.from_bytes(raw, 'little', signed=True), None)
    return values
