"""Draws arrays_figures.py's data as SVG with gnuplot: medians as bars, least to most as the lines on them. Text stays
text, and the same data gives the same file. A variant has one colour in all figures (those of Okabe and Ito)."""
import re
import shutil
import statistics
import subprocess
import sys

from arrays_runs import PLAIN, summary

COLOURS = {PLAIN: '#777777', 'dense, auto': '#0072b2', 'dense, auto alone': '#f0e442', 'hybrid, auto': '#e69f00',
           'sparse, auto': '#009e73', 'dense, xor': '#56b4e9', 'dense, auto:speed': '#000000', 'HDF5, none': '#cc79a7',
           'HDF5, bitshuffle': '#d55e00'}
LEGEND = {PLAIN: 'PnetCDF', 'HDF5, none': 'HDF5', 'HDF5, bitshuffle': 'HDF5, bitshuffle and zstd'}
DARK = '#222222'
MD = ['md', 'md-soa', 'md-slower']
MD_TITLES = ['interleaved, 20 MiB/s', 'one coordinate after another, 20 MiB/s', 'interleaved, 5 MiB/s']
SPEEDS = {'ranks': '32 MiB at 20 MiB/s', 'ranks-faster': '128 MiB at 160 MiB/s'}
READ = [PLAIN, 'dense, auto', 'dense, xor', 'HDF5, none', 'HDF5, bitshuffle']
STEPS = 20  # of the molecular dynamics


class Panel:
    def __init__(self, run, step, title, x, y, scale=1.0, only=None, top='*'):
        self.run, self.step, self.title, self.x, self.y = run, step, title, x, y
        self.scale, self.only, self.top = scale, only, top


FIGURES = {
    '7': [Panel('splits', 'write', 'splits', 'values in a split', 'write, s', top=2),
          Panel('stripes', 'write', 'stripes', 'striping_unit', 'write, s', top=2)],
    '8': [Panel(run, 'write', title, 'ranks', 'write, s') for run, title in SPEEDS.items()],
    '9': [Panel(run, 'read', title, 'ranks', 'read, s', only=READ) for run, title in SPEEDS.items()],
    '10': [Panel(run, 'md', title, 'ranks', 'whole run, s') for run, title in zip(MD, MD_TITLES)],
    '11': [Panel(run, 'md, input and output', title, 'ranks', 'writing, ms a step', 1000 / STEPS)
           for run, title in zip(MD, MD_TITLES)],
    '12': [Panel('climate', 'at', '', 'ranks', 'AT, s')],
    '13': [Panel('climate', 'matt', '', 'ranks', 'MATT, s')],
}


def bars(panel, run, number):
    """The commands for a panel: groups of bars, a group for each place on the x axis."""
    points = run['points']
    names = names_of(panel, run)
    width = 0.8 / len(names)
    blocks, plots = [], []
    for index, name in enumerate(names):
        lines = []
        for place, point in enumerate(points):
            if name in point['rounds']:
                median, least, most, _ = summary(point, name, panel.step)
                x = place + (index - (len(names) - 1) / 2) * width
                lines.append(f'{x:.4f} ' + ' '.join(f'{value * panel.scale:.4f}' for value in (median, least, most)))
        block = f'$d{number}_{index}'
        blocks.append(f'{block} << EOD\n' + '\n'.join(lines) + '\nEOD')
        plots.append(f'{block} using 1:2 with boxes lc rgb "{COLOURS[name]}"')
        plots.append(f'{block} using 1:3:(0):($4-$3) with vectors nohead lw 1.5 lc rgb "{DARK}"')
    tics = ', '.join(f'"{point["x"]}" {place}' for place, point in enumerate(points))
    return blocks + [f'set boxwidth {width * 0.9:.4f}', f'set xtics scale 0 ({tics})',
                     f'set xrange [-0.6:{len(points) - 0.4:.1f}]', f'set yrange [0:{panel.top}]',
                     f'set xlabel "{panel.x}"', f'set ylabel "{panel.y}"', f'set title "{panel.title}"',
                     'plot ' + ', \\\n  '.join(plots)]


def speeds(run, step, number):
    """How many times as fast as PnetCDF in the same round, over the speed of the disk."""
    blocks, plots = [], [f'1 with lines lw 2 lc rgb "{COLOURS[PLAIN]}"']
    points = run['points']
    for index, name in enumerate(points[0]['rounds']):
        if name == PLAIN:
            continue
        lines = []
        for point in points:
            if name not in point['rounds']:
                continue
            ratios = [plain[step] / seconds[step]
                      for plain, seconds in zip(point['rounds'][PLAIN], point['rounds'][name])]
            x = float(point['x']) * 1.03 ** (index - 2.5)  # beside each other
            lines.append(f'{x:.3f} {statistics.median(ratios):.4f} {min(ratios):.4f} {max(ratios):.4f}')
        block = f'$d{number}_{index}'
        blocks.append(f'{block} << EOD\n' + '\n'.join(lines) + '\nEOD')
        plots.append(f'{block} using 1:2 with linespoints pt 7 ps 0.5 lw 2 lc rgb "{COLOURS[name]}"')
        plots.append(f'{block} using 1:3:(0):($4-$3) with vectors nohead lw 1.5 lc rgb "{COLOURS[name]}"')
    rates = [point['x'] for point in points]
    tics = ', '.join(f'"{rate}" {rate}' for rate in rates)
    return blocks + ['set logscale x 2', f'set xtics ({tics})',
                     f'set xrange [{float(rates[0]) / 1.25:.2f}:{float(rates[-1]) * 1.25:.2f}]', 'set yrange [0:*]',
                     'set xlabel "speed of the disk, MiB/s"', f'set ylabel "{step}: times as fast as PnetCDF"',
                     f'set title "{step}"', 'plot ' + ', \\\n  '.join(plots)]


def legend(names, width, height):
    """Squares and names in rows at the top; the commands, and how many rows they are."""
    square, gap, letter = 16, 20, 7.0
    rows = [[]]
    for name in names:
        text = LEGEND.get(name, 'layer, ' + name)
        wide = square + letter * len(text) + gap
        if sum(each[2] for each in rows[-1]) + wide > width - 40:
            rows.append([])
        rows[-1].append((name, text, wide))
    commands = []
    for row, entries in enumerate(rows):
        x, y = (width - sum(each[2] for each in entries) + gap) / 2, height - 16 - 20 * row
        for name, text, wide in entries:
            commands.append(f'set object rectangle from screen {x / width:.4f}, screen {(y - 5) / height:.4f} '
                            f'to screen {(x + 10) / width:.4f}, screen {(y + 5) / height:.4f} '
                            f'fillcolor rgb "{COLOURS[name]}" fillstyle solid noborder')
            commands.append(f'set label "{text}" at screen {(x + square) / width:.4f}, screen {y / height:.4f}')
            x += wide
    return commands, len(rows)


def picture(path, panels, names):
    """`panels` are lists of commands, `names` what the legend shows."""
    width, height = (640 if len(panels) == 1 else 860), 350
    keys, rows = legend(names, width, height)
    commands = [f'set terminal svg size {width},{height} noenhanced font "sans-serif,13" background "#ffffff"',
                f'set output "{path}"', 'set style fill solid 1.0 noborder', 'set border 3', 'set tics nomirror',
                'set grid ytics lc rgb "#dddddd" lw 1 lt 1', 'set title offset 0,-0.4', 'set ylabel offset 1.5',
                'set xlabel offset 0,0.4', 'unset key',
                f'set multiplot layout 1,{len(panels)} margins {60 / width:.4f},{1 - 12 / width:.4f},{52 / height:.4f},'
                f'{1 - (44 + 20 * rows) / height:.4f} spacing {60 / width:.4f}']
    for number, panel in enumerate(panels):
        commands += (keys if number == 0 else ['unset label', 'unset object']) + panel
    commands += ['unset multiplot', 'unset output']
    subprocess.run(['gnuplot'], input='\n'.join(commands) + '\n', text=True, check=True)
    path.write_text(re.sub(r'<g [^>]*>\s*</g>\s*', '', path.read_text()))  # gnuplot leaves many groups without content


def names_of(panel, run):
    return [name for name in run['points'][0]['rounds'] if panel.only is None or name in panel.only]


def draw(data, folder):
    """All figures there is data for."""
    if shutil.which('gnuplot') is None:
        print('no gnuplot: no drawings (scripts/setup bench)', file=sys.stderr)
        return
    folder.mkdir(parents=True, exist_ok=True)
    for name, panels in FIGURES.items():
        if all(panel.run in data for panel in panels):
            commands = [bars(panel, data[panel.run], number) for number, panel in enumerate(panels)]
            picture(folder / f'arrays-{name}.svg', commands, names_of(panels[0], data[panels[0].run]))
    if 'speed' in data:
        panels = [speeds(data['speed'], step, number) for number, step in enumerate(('write', 'read'))]
        picture(folder / 'arrays-speed.svg', panels, list(data['speed']['points'][0]['rounds']))
