// Programs that wait: by polling, and by draining arrays of requests.
#include <algorithm>
#include <random>
#include <utility>

#include "trace/testing/synthetic.h"
#include "trace/testing/synthetic_parts.h"

namespace cairn::trace {

using namespace synthetic;

namespace {

constexpr uint32_t kTest = 584;
constexpr uint32_t kIprobe = 339;

Row test_row(uint32_t site, Atom request, bool found) {
  return {kTest, site, 0, {atoms({request, 0}), atoms({found ? 1 : 0}), found ? atoms({constant(76)}) : Field{}}};
}

Row probe_row(uint32_t site, Atom source) {
  return {kIprobe,
          site,
          0,
          {atoms({constant(2)}), atoms({5}), atoms({kWorld}), atoms({source < 0 ? 0 : 1}),
           source < 0 ? Field{} : atoms({source, 5, 0, 4, 0})}};
}

Bytes packed_call(Row row) {
  row.fields.push_back(atoms({0}));
  ByteWriter out;
  pack_row(row, out);
  return out.take();
}

class PollingProgram {
 public:
  PollingProgram(uint32_t ranks, uint64_t seed) : random_(seed), ranks_(ranks), steps_(10 + below(40)) {}

  SequenceRecord sequence(uint32_t rank, uint32_t thread) {
    Recording recording;
    const auto call = [&recording](Row row) { recording.call(std::move(row)); };
    const auto wait = [&](uint32_t site, Atom request, uint64_t times) {
      for (uint64_t i = 0; i < times; ++i) call(test_row(site, request, false));
    };
    for (Atom step = 0; step < steps_; ++step) {
      call({61, 1, 0, {atoms({static_cast<Atom>(rank)}), atoms({3, 0})}});
      wait(2, 1, below(4) == 0 ? 0 : below(30));
      call(test_row(2, 1, true));
      // A progress loop over three requests, which end in any order, and a message from anybody.
      const uint64_t rounds = below(20);
      const uint64_t last = below(3);
      for (uint64_t i = 0; i < 3 * rounds + last; ++i) call(test_row(3 + static_cast<uint32_t>(i % 3), 1, false));
      call(test_row(3 + static_cast<uint32_t>(last), 1, true));
      for (uint64_t i = below(3); i > 0; --i) call(probe_row(6, -1));
      if (step % 3 == 0) call(probe_row(6, static_cast<Atom>(below(ranks_))));
    }
    wait(2, 1, below(100));  // in vain
    SequenceRecord result;
    result.thread = thread;
    result.calls = grammar::Grammar::from_symbols(recording.calls());
    result.rows = recording.rows();
    add_polls(&result);
    result.stats = durations(recording.calls(), recording.rows().size(), random_());
    result.sites.resize(7);
    for (uint64_t site = 1; site < 7; ++site) result.sites[site].offset = 1000 * site;
    if (ranks_ % 2 == 0) {
      std::vector<uint32_t> skips;
      for (size_t i = 0; i < recording.calls().size(); ++i) skips.push_back(static_cast<uint32_t>(below(2)));
      result.order = grammar::Grammar::from_symbols(skips);
    }
    return result;
  }

 private:
  uint64_t below(uint64_t limit) { return random_() % limit; }

  static void add_polls(SequenceRecord *sequence) {
    for (const Bytes &packed : sequence->rows) {
      ByteReader in(packed);
      Row row = *unpack_row(in);
      Poll poll;
      if (row.function == kTest || row.function == kIprobe) {
        const size_t answer = row.function == kTest ? 1 : 3;
        poll.kind = row.fields[answer].atoms[0] == 0 ? Poll::unsuccessful : Poll::successful;
        row.fields[answer].atoms[0] = 0;
        row.fields[answer + 1] = {};
        row.fields.pop_back();
        if (poll.kind == Poll::successful) poll.unsuccessful_form = packed_call(row);
      }
      sequence->polls.push_back(std::move(poll));
    }
  }

  std::mt19937_64 random_;
  uint32_t ranks_;
  Atom steps_;
};

}  // namespace

std::vector<ProcessRecord> polling_program(uint32_t ranks, uint64_t seed) {
  PollingProgram program(ranks, seed);
  std::vector<ProcessRecord> result;
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    ProcessRecord process = idle_process(rank, ranks);
    for (uint32_t thread = 0; thread < 1 + (ranks + 1) % 2; ++thread) {
      process.sequences.push_back(program.sequence(rank, thread));
    }
    result.push_back(std::move(process));
  }
  return result;
}

namespace {

/// What a recorder does with requests that calls drain, written again from docs/format.md.
class DrainWriter {
 public:
  /// `array`: all requests, then what the call leaves of them. The row's second field are the requests, the third what
  /// completed. Gives the row as it is recorded.
  Row write(Row row, std::vector<Atom> *array) {
    const Atom mark = special(33);
    const auto same = std::find(arrays_.begin(), arrays_.end(), *array);
    std::vector<Atom> &requests = row.fields[1].atoms;
    if (same == arrays_.end()) {
      requests = *array;
      requests.insert(requests.begin(), mark);
    } else {
      requests = {mark, static_cast<Atom>(same - arrays_.begin())};
      arrays_.erase(same);
    }
    for (Atom &index : row.fields[2].atoms) {
      const auto place = static_cast<size_t>(index);
      index = 0;
      for (size_t i = 0; i < place; ++i) index += (*array)[2 * i] == constant(5) ? 0 : 1;
      (*array)[2 * place] = constant(5);
      (*array)[2 * place + 1] = 0;
    }
    arrays_.insert(arrays_.begin(), *array);
    if (arrays_.size() > 8) arrays_.pop_back();
    return row;
  }

 private:
  std::vector<std::vector<Atom>> arrays_;
};

}  // namespace

DrainingProgram draining_program(uint32_t ranks, uint64_t seed, bool in_order) {
  DrainingProgram program;
  std::mt19937_64 random(seed);
  const auto below = [&random](uint64_t limit) { return static_cast<size_t>(random() % limit); };
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    Recording recording;
    DrainWriter writer;
    std::vector<Row> calls;
    std::vector<Atom> arrays[2];
    for (uint32_t step = 0; step < 80; ++step) {
      std::vector<Atom> &array = arrays[step % 2];
      std::vector<size_t> there;
      for (size_t i = 0; 2 * i < array.size(); ++i) {
        if (array[2 * i] != constant(5)) there.push_back(i);
      }
      if (there.empty()) {  // posted again; now and then there are gaps from the start
        array.clear();
        for (Atom i = 0; i < 5; ++i) {
          there.push_back(static_cast<size_t>(i));
          array.push_back(3);
          array.push_back(i);
        }
        if (!in_order && below(3) == 0) {
          array[2] = constant(5);
          array[3] = 0;
          there.erase(there.begin() + 1);
        }
      }
      Row row{700, 1 + step % 2, 0, {atoms({5}), atoms(array), atoms({}), atoms({kImplied})}};
      const size_t completed = in_order ? 1 : below(4);
      for (size_t i = 0; i < completed && !there.empty(); ++i) {
        const size_t which = in_order ? 0 : below(there.size());
        row.fields[2].atoms.push_back(static_cast<Atom>(there[which]));
        there.erase(there.begin() + static_cast<std::ptrdiff_t>(which));
      }
      calls.push_back(row);
      calls.back().fields.push_back(atoms({0}));
      recording.call(writer.write(row, &array));
    }
    program.processes.push_back(single_thread(rank, ranks, recording, seed + rank));
    program.calls.push_back(std::move(calls));
  }
  return program;
}

DrainingProgram neighbours_program(uint32_t ranks, uint64_t seed, Neighbours kind) {
  DrainingProgram program;
  std::mt19937_64 random(seed);
  const auto below = [&random](uint64_t limit) { return static_cast<size_t>(random() % limit); };
  for (uint32_t rank = 0; rank < ranks; ++rank) {
    Recording recording;
    DrainWriter writer;
    std::vector<Row> calls;
    const auto call = [&](const Row &row, const Row &recorded) {
      recording.call(recorded);
      calls.push_back(row);
      calls.back().fields.push_back(atoms({0}));
    };
    const size_t neighbours = 1 + rank % 3 + below(3);
    const size_t steps = 12;
    for (size_t step = 0; step < steps; ++step) {
      std::vector<Atom> array;
      std::vector<size_t> there;
      for (size_t i = 0; i < neighbours; ++i) {
        there.push_back(i);
        array.push_back(3);
        array.push_back(static_cast<Atom>(i));
      }
      const auto drain = [&](const std::vector<size_t> &completed) {
        Row row{700, 1, 0, {atoms({static_cast<Atom>(neighbours)}), atoms(array), atoms({})}};
        for (const size_t each : completed) row.fields[2].atoms.push_back(static_cast<Atom>(each));
        if (kind == Neighbours::polled) {
          row.fields.push_back(atoms({completed.empty() ? 0 : 1}));
          row.fields.push_back(completed.empty() ? Field{} : atoms({kImplied}));
        } else {
          row.fields.push_back(atoms({kImplied}));
        }
        call(row, writer.write(row, &array));
      };
      while (!there.empty()) {
        for (size_t misses = kind == Neighbours::polled ? below(5) : 0; misses > 0; --misses) drain({});
        std::vector<size_t> completed;
        const size_t most = kind == Neighbours::several ? 1 + below(3) : 1;
        for (size_t i = 0; i < most && !there.empty(); ++i) {
          const size_t which = kind == Neighbours::in_order ? 0 : below(there.size());
          completed.push_back(there[which]);
          there.erase(there.begin() + static_cast<std::ptrdiff_t>(which));
        }
        drain(completed);
      }
      if (kind == Neighbours::polled && seed % 2 == 0 && below(3) == 0) drain({});  // in vain
      const Row other{61, 2, 0, {atoms({static_cast<Atom>(rank)})}};
      if (step % 4 != 3) call(other, other);
    }
    ProcessRecord process = single_thread(rank, ranks, recording, seed + rank);
    for (const Bytes &packed : recording.rows()) {
      ByteReader in(packed);
      const Row row = *unpack_row(in);
      Poll poll;
      if (row.function == 700) {
        poll.first_output = 2;
        if (kind == Neighbours::polled) {
          poll.answer = 3;
          poll.kind = row.fields[3].atoms[0] == 0 ? Poll::unsuccessful : Poll::successful;
          Row missed = row;
          missed.fields[2] = missed.fields[4] = {};
          missed.fields[3] = atoms({0});
          missed.fields.pop_back();
          if (poll.kind == Poll::successful) poll.unsuccessful_form = packed_call(missed);
        }
      }
      process.sequences[0].polls.push_back(std::move(poll));
    }
    program.processes.push_back(std::move(process));
    program.calls.push_back(std::move(calls));
  }
  return program;
}

}  // namespace cairn::trace
